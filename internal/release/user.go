// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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
	*repository
	home    string
	env     []string
	online  []string // env with the proxies of the machine as well
	address string   // address of the services in the documents
}

// newUser makes a user below work. Third-party modules come from the module
// cache of the machine, which is laid out like a proxy, or from its proxies.
func newUser(r *repository, work string) (*user, error) {
	u := &user{repository: r, home: filepath.Join(work, "home")}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY", "GOCACHE").Output()
	if err = errors.Join(err, os.MkdirAll(u.home, 0o755)); err != nil {
		return nil, err
	}
	values := strings.Split(string(out), "\n")
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
		"GOTOOLCHAIN="+cmp.Or(os.Getenv("GOTOOLCHAIN"), "local"),
		"PATH="+u.bin()+string(filepath.ListSeparator)+os.Getenv("PATH"),
	)
	proxies := "GOPROXY=file://" + r.proxy + ",file://" + filepath.Join(values[0], "cache", "download")
	u.online = append(slices.Clone(u.env), proxies+","+values[1])
	u.env = append(u.env, proxies)
	return u, nil
}

func (u *user) bin() string { return filepath.Join(u.home, "go", "bin") }

// run runs a command in a folder below the home. If the go command fails
// without the network it is run again with it: otherwise most of the time would
// go into requests for modules that do not exist.
func (u *user) run(folder, name string, args ...string) ([]byte, error) {
	dir := filepath.Join(u.home, folder)
	out, err := u.runWith(u.env, dir, name, args...)
	if err != nil && name == "go" {
		out, err = u.runWith(u.online, dir, name, args...)
	}
	return out, err
}

func (u *user) runWith(env []string, dir, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if own := filepath.Join(u.bin(), name); !filepath.IsAbs(name) { // os/exec searches the PATH of this process
		if _, err := os.Stat(own); err == nil {
			name = own
		}
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env, c.WaitDelay = dir, env, time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, indent(out.Bytes()))
	}
	return out.Bytes(), nil
}

// module makes an empty module.
func (u *user) module(folder string) error {
	if err := os.MkdirAll(filepath.Join(u.home, folder), 0o755); err != nil {
		return err
	}
	_, err := u.run(folder, "go", "mod", "init", "example.com/"+folder)
	return err
}

// libraries adds each published module to a new module, and builds a program
// that imports all its packages.
func (u *user) libraries() error {
	var faults []error
	for _, folder := range published {
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
	const form = `{{if and (ne .Name "main") .Module}}{{.Module.Path}} {{.ImportPath}}{{end}}`
	out, err := u.run(name, "go", "list", "-e", "-find", "-f", form, pathOf(folder)+"/...")
	if err != nil {
		return err
	}
	text := "package main\n\n"
	for line := range strings.Lines(string(out)) {
		module, p, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module == pathOf(folder) && !slices.Contains(strings.Split(p, "/"), "internal") {
			text += fmt.Sprintf("import _ %q\n", p)
		}
	}
	if err := u.program(name, text+"\nfunc main() {}\n", false); err != nil {
		return err
	}
	graph, err := u.run(name, "go", "mod", "graph")
	return errors.Join(err, u.graph(folder, string(graph)))
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
	isTool := slices.Contains([]string{"cmd/nib", "allocs", "dest/kafka/embedded"}, folder)
	for line := range strings.Lines(text) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		by, _, _ := strings.Cut(from, "@")
		p, version, _ := strings.Cut(to, "@")
		want := ""
		switch {
		case !isOwn(by):
		case folder == "." && p != "go" && p != "toolchain":
			want = "want no requirement"
		case isOwn(p) && version != u.version:
			want = "want " + u.version
		case pseudo.MatchString(to) && !isTool && !slices.Contains(unreleased, p):
			want = "which is not a release"
		}
		if want != "" {
			faults = append(faults, fmt.Errorf("%s requires %s, %s", from, to, want))
		}
	}
	return errors.Join(faults...)
}

// programs installs the programs and checks their version and help.
func (u *user) programs() error {
	var faults []error
	for folder := range installed {
		_, err := u.run(".", "go", "install", pathOf(folder)+"@"+u.version)
		faults = append(faults, err)
	}
	for command, want := range map[string]string{
		"nib --version":        "nib " + u.version + " go",
		"nib version":          "nib " + u.version + " go",
		"nib allocs --version": "allocs " + u.version + " go",
		"nib --help":           "Available Commands:",
		"nib help relay":       "Usage:\n  nib relay ",
		"allocs --version":     "allocs " + u.version + " go",
		"allocs --help":        "Usage:\n  allocs ",
		"allocsvet help":       "allocsvet",
	} {
		args := strings.Fields(command)
		out, err := u.run(".", args[0], args[1:]...)
		if err == nil && !strings.Contains(string(out), want) {
			err = fmt.Errorf("%s: got\n%s\nwant %q", command, indent(out), want)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
