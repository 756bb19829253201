// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const rootPath = "github.com/nib-log/nib"

// published lists the directories of the modules that users fetch. All have the
// version of the root.
var published = []string{
	".", "dest/kafka", "dest/kafka/embedded", "allocs", "cmd/nib",
	"bridge/nibgrpc", "bridge/nibhclog", "bridge/niblogr", "bridge/niblogrus", "bridge/nibotel", "bridge/nibzap",
}

// installed lists the programs that users install, and their modules.
var installed = map[string]string{
	"cmd/nib": "cmd/nib", "allocs/cmd/allocs": "allocs", "allocs/cmd/allocsvet": "allocs",
}

// unpublished lists names of directories; a module in or below one of them is
// for the development of nib.
var unpublished = []string{"bench", "demo", "e2e", "examples", "internal", "kfaketest", "otlptest"}

// A repository is a checkout.
type repository struct {
	dir     string
	modules map[string]*modfile.File // keyed by directory
	version string                   // of a staged release
	proxy   string                   // directory of its packed modules
}

// open reads the go.mod files of a checkout.
func open(dir string) (*repository, error) {
	r := &repository{dir: dir, modules: map[string]*modfile.File{}}
	for name := range strings.FieldsSeq(r.git("ls-files", "go.mod", "*/go.mod")) {
		if strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if r.modules[path.Dir(name)], err = modfile.Parse(name, text, nil); err != nil {
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
	out, _ := exec.Command("git", append([]string{"-C", r.dir}, args...)...).Output()
	return strings.TrimSpace(string(out))
}

// pathOf returns the path of the module or package in a directory.
func pathOf(folder string) string { return path.Join(rootPath, folder) }

// isOwn reports whether a module is one of the repository.
func isOwn(p string) bool { return p == rootPath || strings.HasPrefix(p, rootPath+"/") }

// lint finds problems that prevent modules from being fetched or installed.
func (r *repository) lint() error {
	var faults []error
	fault := func(folder, format string, args ...any) {
		faults = append(faults, fmt.Errorf(folder+"/go.mod: "+format, args...))
	}
	programs := map[string]bool{}
	for _, folder := range installed {
		programs[folder] = true
	}
	for folder, m := range r.modules {
		isPublished, elements := slices.Contains(published, folder), strings.Split(folder, "/")
		inside := func(e string) bool { return slices.Contains(elements, e) }
		if !isPublished && !slices.ContainsFunc(unpublished, inside) {
			fault(folder, "add the module to published in internal/release, or put it below one of the folders %s",
				strings.Join(unpublished, ", "))
		}
		if m.Module.Mod.Path != pathOf(folder) {
			fault(folder, "got module %s, want %s", m.Module.Mod.Path, pathOf(folder))
		}
		if !isPublished {
			continue
		}
		for _, q := range m.Require {
			below := path.Clean(strings.TrimPrefix(strings.TrimPrefix(q.Mod.Path, rootPath), "/"))
			if isOwn(q.Mod.Path) && !slices.Contains(published, below) {
				fault(folder, "requires %s, which is not published", q.Mod.Path)
			}
		}
		for _, p := range m.Replace {
			if programs[folder] {
				fault(folder, "replaces %s: go install refuses a module with replace directives; use a go.work beside it", p.Old.Path)
			} else if !isOwn(p.Old.Path) {
				fault(folder, "replaces %s, which has no effect for users", p.Old.Path)
			}
		}
	}
	return errors.Join(faults...)
}

// stage clones HEAD into dir, and commits that all modules require version.
func (r *repository) stage(dir, version string) (*repository, error) {
	clone := exec.Command("git", "clone", "-q", "--shared", "--no-tags", r.dir, dir)
	if out, err := clone.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git clone: %w\n%s", err, out)
	}
	s, err := open(dir)
	if err != nil {
		return nil, err
	}
	s.version = version
	for folder, m := range s.modules {
		for _, q := range slices.Clone(m.Require) {
			if isOwn(q.Mod.Path) {
				if err := m.AddRequire(q.Mod.Path, version); err != nil {
					return nil, err
				}
			}
		}
		name := filepath.Join(dir, folder, "go.mod")
		if err := os.WriteFile(name, modfile.Format(m.Syntax), 0o644); err != nil {
			return nil, err
		}
	}
	s.git("-c", "user.name=release", "-c", "user.email=release@example.com", "commit", "-q", "-a", "-m", "release")
	return s, nil
}

// pack writes the published modules into a directory, in the layout of a module
// proxy.
func (r *repository) pack(proxy string) error {
	r.proxy = proxy
	for _, folder := range published {
		escaped, err := module.EscapePath(pathOf(folder))
		if err != nil {
			return err
		}
		at := filepath.Join(proxy, escaped, "@v", r.version)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		mod, err1 := os.ReadFile(filepath.Join(r.dir, folder, "go.mod"))
		info, err2 := json.Marshal(map[string]any{"Version": r.version, "Time": time.Now().UTC().Truncate(time.Second)})
		w, err3 := os.Create(at + ".zip")
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		subdir := folder
		if folder == "." {
			subdir = ""
		}
		err = errors.Join(
			zip.CreateFromVCS(w, module.Version{Path: pathOf(folder), Version: r.version}, r.dir, "HEAD", subdir), w.Close(),
			os.WriteFile(at+".mod", mod, 0o644), os.WriteFile(at+".info", info, 0o644),
			os.WriteFile(filepath.Join(filepath.Dir(at), "list"), []byte(r.version+"\n"), 0o644))
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}
