// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A user has Go and nothing else: no C compiler, an empty module cache, and a
// proxy with the packed modules.
type user struct {
	*repository
	home    string
	env     []string
	address string // address of the services in the documents
}

// newUser makes a user. Third-party modules come from the module cache of the
// machine, which is laid out like a proxy, or from its proxies.
func newUser(r *repository, proxy, home string) (*user, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY", "GOCACHE").Output()
	if err = errors.Join(err, os.Mkdir(home, 0o755)); err != nil {
		return nil, err
	}
	of := strings.Split(string(out), "\n")
	u := &user{repository: r, home: home}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GO") && !strings.HasPrefix(v, "MAKE") {
			u.env = append(u.env, v)
		}
	}
	u.env = append(u.env,
		"HOME="+home,
		"CGO_ENABLED=0",
		"GOENV=off",
		"GOCACHE="+of[2], // holds results by content
		"GOPATH="+filepath.Join(home, "go"),
		"GOFLAGS=-modcacherw -trimpath -ldflags=-w", // the same results in each directory
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(of[0], "cache", "download")+","+of[1],
		"GOSUMDB=off", // third-party modules were verified when they entered the cache
		"GOTOOLCHAIN="+cmp.Or(os.Getenv("GOTOOLCHAIN"), "local"),
		"PATH="+filepath.Join(home, "go", "bin")+":"+os.Getenv("PATH"),
	)
	return u, nil
}

// run runs a script in a folder below the home, with more variables.
func (u *user) run(folder, text string, more ...string) (string, error) {
	dir := filepath.Join(u.home, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return script(dir, append(slices.Clip(u.env), more...), text)
}

// write writes the program of a package of the documents.
func (u *user) write(folder, text string) error {
	dir := filepath.Join(u.home, "documents", folder)
	name := filepath.Join(dir, "main.go")
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(name, []byte(u.placed(text)), 0o644))
}

// libraries adds each published module to a module of its own, and compiles all
// packages of it there; programs are installed later.
func (u *user) libraries() error {
	var faults []error
	for _, folder := range published {
		all := pathOf(folder) + "/..."
		script := fmt.Sprintf("go mod init example.com/user\ngo get %s@%s\n", all, u.version)
		if !strings.Contains(folder, "cmd") && folder != "allocs" {
			script += "go build " + all
		}
		_, err := u.run("get/"+folder+"/module", script)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// programs installs the programs, and checks their version and help, and that
// all modules in them have a license, also those in the page of nib view.
func (u *user) programs() error {
	text := ""
	for _, folder := range installed {
		text += fmt.Sprintf("go install %s@%s\n%s/.ci/licenses $(which %s) $PWD/%[4]s\n",
			pathOf(folder), u.version, u.dir, path.Base(folder))
	}
	_, err := u.run("licenses", fmt.Sprintf(`%sls nib/%s@%s/view/page/dist/licenses/svelte@*
nib version | grep "nib %[3]s go"
nib allocs --version | grep "allocs %[3]s go"
nib help relay | grep "nib relay "
allocs --version | grep "allocs %[3]s go"
allocsvet help | grep allocsvet
`, text, pathOf("cmd/nib"), u.version))
	return err
}
