// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A user has Go and nothing else: an empty module cache, and a proxy with the
// packed modules.
type user struct {
	*staged
	home    string
	env     []string
	online  []string // env with the proxies of the machine as well
	address string   // address of the services in the documents
}

// newUser makes a user below work. Third-party modules come from the module
// cache of the machine, which is laid out like a proxy, or from its proxies.
func newUser(s *staged, work string) (*user, error) {
	u := &user{staged: s, home: filepath.Join(work, "home")}
	if err := os.MkdirAll(u.home, 0o755); err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY", "GOCACHE").Output()
	if err != nil {
		return nil, err
	}
	values := strings.Split(string(out), "\n")
	proxies := []string{"file://" + s.proxy, "file://" + filepath.Join(values[0], "cache", "download"), "file://" + fetched()}
	offline := len(proxies)
	for p := range strings.FieldsFuncSeq(values[1], func(r rune) bool { return r == ',' || r == '|' }) {
		if p != "direct" && p != "off" {
			proxies = append(proxies, p)
		}
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GO") && !strings.HasPrefix(v, "PATH=") && !strings.HasPrefix(v, "MAKE") && !strings.HasPrefix(v, "HOME=") {
			u.env = append(u.env, v)
		}
	}
	u.env = append(u.env,
		"HOME="+u.home,
		"GOENV=off",
		"GOCACHE="+values[2], // holds results by content
		"GOPATH="+filepath.Join(u.home, "go"),
		"GOFLAGS=-modcacherw -trimpath", // results must not depend on the directory
		"GOSUMDB=off",                   // third-party modules were verified when they entered the cache
		"GOTOOLCHAIN="+toolchain(),
		"PATH="+u.bin()+string(filepath.ListSeparator)+os.Getenv("PATH"),
	)
	u.online = append(slices.Clone(u.env), "GOPROXY="+strings.Join(proxies, ","))
	u.env = append(u.env, "GOPROXY="+strings.Join(proxies[:offline], ","))
	return u, nil
}

// fetched returns the directory with the third-party modules that earlier runs
// needed.
func fetched() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "nib-release", "download")
}

// keep stores third-party modules for later runs.
func (u *user) keep() error {
	from := filepath.Join(u.home, "go", "pkg", "mod", "cache", "download")
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		to := filepath.Join(fetched(), below)
		switch {
		case below == "sumdb" || below == filepath.Join("github.com", "nib-log"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case isFile(to) && filepath.Base(name) != "list":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

// toolchain returns the setting of the environment, or the local one.
func toolchain() string {
	if t := os.Getenv("GOTOOLCHAIN"); t != "" {
		return t
	}
	return "local"
}

func (u *user) bin() string { return filepath.Join(u.home, "go", "bin") }

// run runs a command in a folder below the home. If the go command fails
// without the network it is run again with it: otherwise most of the time would
// go into requests for modules that do not exist.
func (u *user) run(folder, name string, args ...string) ([]byte, error) {
	out, err := u.runWith(u.env, folder, name, args...)
	if err != nil && name == "go" {
		out, err = u.runWith(u.online, folder, name, args...)
	}
	return out, err
}

func (u *user) runWith(env []string, folder, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	if !filepath.IsAbs(name) {
		if own := filepath.Join(u.bin(), name); isFile(own) { // os/exec searches the PATH of this process
			c = exec.CommandContext(ctx, own, args...)
		}
	}
	c.Dir = filepath.Join(u.home, folder)
	c.Env = env
	c.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, indent(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return append(stdout.Bytes(), stderr.Bytes()...), nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// module makes an empty module.
func (u *user) module(folder string) error {
	if err := os.MkdirAll(filepath.Join(u.home, folder), 0o755); err != nil {
		return err
	}
	_, err := u.run(folder, "go", "mod", "init", "example.com/"+folder)
	return err
}

// libraries adds each published module with importable packages to a new
// module, and builds a program that imports all of them.
func (u *user) libraries() error {
	var faults []error
	for _, folder := range u.order() {
		if err := u.library(folder); err != nil {
			faults = append(faults, fmt.Errorf("a user of %s: %w", pathOf(folder), err))
		}
	}
	return errors.Join(faults...)
}

func (u *user) library(folder string) error {
	name := "get-" + strings.ReplaceAll(strings.Replace(folder, ".", "root", 1), "/", "-")
	if err := u.module(name); err != nil {
		return err
	}
	if _, err := u.run(name, "go", "get", pathOf(folder)+"@"+u.version); err != nil {
		return err
	}
	out, err := u.run(name, "go", "list", "-e", "-find", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, pathOf(folder)+"/...")
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("package main\n\n")
	for p := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(p, rootPath) && !slices.Contains(strings.Split(p, "/"), "internal") && u.moduleOf(strings.TrimPrefix(strings.TrimPrefix(p, rootPath), "/")) == folder {
			fmt.Fprintf(&text, "import _ %q\n", p)
		}
	}
	text.WriteString("\nfunc main() {}\n")
	if err := os.WriteFile(filepath.Join(u.home, name, "main.go"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", os.DevNull, "."}, {"vet", "."}} {
		if _, err := u.run(name, "go", args...); err != nil {
			return err
		}
	}
	graph, err := u.run(name, "go", "mod", "graph")
	if err != nil {
		return err
	}
	return u.graph(folder, string(graph))
}

var pseudo = regexp.MustCompile(`@v[0-9.]+-(.*\.)?[0-9]{14}-[0-9a-f]{12}$`)

// unreleased lists modules without releases that a dependency requires.
var unreleased = []string{"google.golang.org/genproto/googleapis/rpc"} // google.golang.org/grpc

// graph finds requirements that a user should not get: modules of the
// repository at other versions, and unreleased revisions. Requirements of
// programs are exempt, because they do not become part of a module that
// requires them.
func (u *user) graph(folder, text string) error {
	var faults []error
	for line := range strings.Lines(text) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(from, rootPath+"@") && !strings.HasPrefix(from, rootPath+"/") {
			continue
		}
		p, version, _ := strings.Cut(to, "@")
		isOwn := p == rootPath || strings.HasPrefix(p, rootPath+"/")
		isTool := folder == "cmd/nib" || folder == "allocs" || folder == "dest/kafka/embedded"
		switch {
		case folder == "." && p != "go" && p != "toolchain":
			faults = append(faults, fmt.Errorf("%s requires %s, want no requirement", from, to))
		case isOwn && version != u.version:
			faults = append(faults, fmt.Errorf("%s requires %s, want %s", from, to, u.version))
		case pseudo.MatchString(to) && !isTool && !slices.Contains(unreleased, p):
			faults = append(faults, fmt.Errorf("%s requires %s, which is not a release", from, to))
		}
	}
	return errors.Join(faults...)
}

// programs installs the programs and checks their version and help.
func (u *user) programs() error {
	var faults []error
	for _, folder := range installed {
		if _, err := u.run(".", "go", "install", pathOf(folder)+"@"+u.version); err != nil {
			faults = append(faults, err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nib", "--version"}, "nib " + u.version + " go"},
		{[]string{"nib", "version"}, "nib " + u.version + " go"},
		{[]string{"nib", "allocs", "--version"}, "allocs " + u.version + " go"},
		{[]string{"nib", "--help"}, "Available Commands:"},
		{[]string{"nib", "help", "relay"}, "Usage:\n  nib relay "},
		{[]string{"allocs", "--version"}, "allocs " + u.version + " go"},
		{[]string{"allocs", "--help"}, "Usage:\n  allocs "},
		{[]string{"allocsvet", "help"}, "allocsvet"},
	} {
		out, err := u.run(".", c.args[0], c.args[1:]...)
		if err == nil && !strings.Contains(string(out), c.want) {
			err = fmt.Errorf("%s: got\n%s\nwant %q", strings.Join(c.args, " "), indent(out), c.want)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
