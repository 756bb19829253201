// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const rootPath = "github.com/nib-log/nib"

// published lists the directories of the modules that users fetch. All have the
// version of the root.
var published = []string{
	".", "dest/kafka", "dest/kafka/embedded", "allocs", "cmd/nib",
	"bridge/nibgrpc", "bridge/nibhclog", "bridge/niblogr", "bridge/niblogrus", "bridge/nibotel", "bridge/nibzap",
}

// installed lists the programs that users install.
var installed = []string{"cmd/nib", "allocs/cmd/allocs", "allocs/cmd/allocsvet"}

// unpublished lists names of directories; a module in or below one of them is
// for the development of nib.
var unpublished = []string{"bench", "demo", "e2e", "examples", "internal", "kfaketest", "otlptest"}

// A repository is a checkout.
type repository struct {
	dir     string
	modules map[string]*modfile.File // keyed by directory
}

// open reads the go.mod files of a checkout.
func open(dir string) (*repository, error) {
	r := &repository{dir: dir, modules: map[string]*modfile.File{}}
	for _, name := range strings.Fields(r.git("ls-files", "go.mod", "*/go.mod")) {
		if strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		folder := path.Dir(name)
		if r.modules[folder], err = modfile.Parse(name, text, nil); err != nil {
			return nil, err
		}
	}
	if r.modules["."] == nil {
		return nil, fmt.Errorf("%s: want the root of a checkout of %s", dir, rootPath)
	}
	return r, nil
}

// git runs a git command and returns its output, or "" if it fails.
func (r *repository) git(args ...string) string {
	out, _ := r.command("git", args...).Output()
	return strings.TrimSpace(string(out))
}

func (r *repository) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = r.dir
	return c
}

// pathOf returns the path of the module or package in a directory.
func pathOf(folder string) string { return path.Join(rootPath, folder) }

// order returns the directories of the published modules, each after its
// requirements.
func (r *repository) order() (list []string) {
	var add func(folder string)
	add = func(folder string) {
		if slices.Contains(list, folder) || !slices.Contains(published, folder) {
			return
		}
		for _, q := range r.modules[folder].Require {
			if q.Mod.Path == rootPath {
				add(".")
			} else if below, ok := strings.CutPrefix(q.Mod.Path, rootPath+"/"); ok {
				add(below)
			}
		}
		list = append(list, folder)
	}
	for _, folder := range published {
		add(folder)
	}
	return list
}

// lint finds problems that prevent modules from being fetched or installed.
func (r *repository) lint() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for folder, m := range r.modules {
		isPublished := slices.Contains(published, folder)
		if !isPublished && !slices.ContainsFunc(strings.Split(folder, "/"), func(e string) bool { return slices.Contains(unpublished, e) }) {
			fault("%s/go.mod: add the module to published in internal/release, or put it below one of the folders %s", folder, strings.Join(unpublished, ", "))
		}
		if m.Module.Mod.Path != pathOf(folder) {
			fault("%s/go.mod: got module %s, want %s", folder, m.Module.Mod.Path, pathOf(folder))
		}
		if !isPublished {
			continue
		}
		for _, q := range m.Require {
			if below, ok := strings.CutPrefix(q.Mod.Path+"/", rootPath+"/"); ok && !slices.Contains(published, path.Clean(below)) {
				fault("%s/go.mod: requires %s, which is not published", folder, q.Mod.Path)
			}
		}
		for _, p := range m.Replace {
			switch {
			case slices.ContainsFunc(installed, func(program string) bool { return r.moduleOf(program) == folder }):
				fault("%s/go.mod: replaces %s: go install refuses a module with replace directives; use a go.work beside it", folder, p.Old.Path)
			case p.Old.Path != rootPath && !strings.HasPrefix(p.Old.Path, rootPath+"/"):
				fault("%s/go.mod: replaces %s, which has no effect for users", folder, p.Old.Path)
			}
		}
	}
	return errors.Join(faults...)
}

// moduleOf returns the innermost module that contains a directory.
func (r *repository) moduleOf(folder string) string {
	for ; folder != "."; folder = path.Dir(folder) {
		if r.modules[folder] != nil {
			return folder
		}
	}
	return folder
}

// require makes all modules require one version of each other, and returns the
// names of the files that it has changed.
func (r *repository) require(version string) (changed []string, err error) {
	for folder, m := range r.modules {
		before := modfile.Format(m.Syntax)
		for _, q := range slices.Clone(m.Require) {
			if q.Mod.Path != rootPath && !strings.HasPrefix(q.Mod.Path, rootPath+"/") {
				continue
			}
			if err := m.AddRequire(q.Mod.Path, version); err != nil {
				return nil, err
			}
		}
		after := modfile.Format(m.Syntax)
		if string(after) == string(before) {
			continue
		}
		name := path.Join(folder, "go.mod")
		if err := os.WriteFile(filepath.Join(r.dir, name), after, 0o644); err != nil {
			return nil, err
		}
		changed = append(changed, name)
	}
	slices.Sort(changed)
	return changed, nil
}

// tagOf returns the name of the tag of a module.
func tagOf(folder, version string) string {
	if folder == "." {
		return version
	}
	return folder + "/" + version
}

func versionOf(folder, version string) module.Version {
	return module.Version{Path: pathOf(folder), Version: version}
}
