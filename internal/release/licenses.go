// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// isLicense finds the files that a license requires with a binary.
var isLicense = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^(copying|copyright|notice|patents)`)

// licensesOf returns the texts of the licenses of Go and of each module in a
// binary, by name. cache is the module cache that the binary was built from.
// The build of a page writes the licenses of its npm packages into the module.
func licensesOf(binary, cache, goroot string) (map[string]string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	places := map[string]string{info.GoVersion: filepath.Join(goroot, "LICENSE")}
	for _, m := range append(info.Deps, &info.Main) {
		escaped, err1 := module.EscapePath(m.Path)
		version, err2 := module.EscapeVersion(m.Version)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		places[m.Path+"@"+m.Version] = filepath.Join(cache, filepath.FromSlash(escaped)+"@"+version)
	}
	files := map[string]string{}
	for name, place := range places {
		n := len(files)
		if err := licensesBelow(files, name, place); err != nil {
			return nil, err
		}
		if len(files) == n {
			return nil, fmt.Errorf("%s: has no license file", name)
		}
	}
	return files, nil
}

// licensesBelow adds the licenses of a module and of the code that it has
// copied into its directories.
func licensesBelow(files map[string]string, module, place string) error {
	return filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !isLicense.MatchString(d.Name()) || path.Ext(d.Name()) == ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		below := strings.TrimPrefix(strings.TrimPrefix(name, place), string(filepath.Separator))
		if below == "" {
			below = d.Name()
		}
		files[path.Join(module, filepath.ToSlash(below))] = string(text)
		return err
	})
}

// writeLicenses writes the licenses of a binary into a directory.
func writeLicenses(binary, dir string) error {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return err
	}
	place := strings.Fields(string(out))
	files, err := licensesOf(binary, place[0], place[1])
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	return err
}

// licenses checks that all modules in the installed programs have a license,
// and the packages in the page of nib view.
func (u *user) licenses() error {
	goroot, err := u.run(".", "go", "env", "GOROOT")
	faults := []error{err}
	for program := range installed {
		files, err := licensesOf(filepath.Join(u.bin(), path.Base(program)), filepath.Join(u.home, "go", "pkg", "mod"),
			strings.TrimSpace(string(goroot)))
		ofPages := func(name string) bool { return strings.Contains(name, "/page/dist/licenses/svelte@") }
		if err == nil && program == "cmd/nib" && !slices.ContainsFunc(slices.Collect(maps.Keys(files)), ofPages) {
			err = errors.New("cmd/nib: no license of svelte: the build of its page writes it")
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
