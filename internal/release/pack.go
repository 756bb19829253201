// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// staged is a clone of the repository at a revision, with the requirements of
// a release.
type staged struct {
	*repository
	version string
	origin  string // the repository from which it was cloned
	proxy   string // directory of the packed modules
}

// stage clones HEAD into dir and makes the modules require version.
func (r *repository) stage(dir, version string) (*staged, error) {
	if out, err := r.command("git", "clone", "-q", "--shared", "--no-tags", r.dir, dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git clone: %w\n%s", err, out)
	}
	clone, err := open(dir)
	if err != nil {
		return nil, err
	}
	if _, err := clone.require(version); err != nil {
		return nil, err
	}
	return &staged{repository: clone, version: version, origin: r.dir}, nil
}

// pack writes the published modules into a directory, in the layout of a module
// proxy.
func (s *staged) pack(proxy string) error {
	s.proxy = proxy
	tracked := strings.FieldsFunc(s.git("ls-files", "-z"), func(c rune) bool { return c == 0 })
	for _, folder := range s.order() {
		if err := s.packModule(folder, tracked); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

func (s *staged) packModule(folder string, tracked []string) error {
	escaped, err := module.EscapePath(pathOf(folder))
	if err != nil {
		return err
	}
	dir := filepath.Join(s.proxy, escaped, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(s.dir, folder, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": s.version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"list": []byte(s.version + "\n"), s.version + ".mod": mod, s.version + ".info": info} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	w, err := os.Create(filepath.Join(dir, s.version+".zip"))
	if err != nil {
		return err
	}
	if err := zip.Create(w, versionOf(folder, s.version), s.files(folder, tracked)); err != nil {
		return err
	}
	return w.Close()
}

// files returns the files of a module. A module without a LICENSE gets that of
// the repository.
func (s *staged) files(folder string, tracked []string) (list []zip.File) {
	for _, name := range tracked {
		below := name
		if folder != "." {
			ok := false
			if below, ok = strings.CutPrefix(name, folder+"/"); !ok {
				continue
			}
		}
		list = append(list, file{path: below, from: filepath.Join(s.dir, name)})
	}
	if !slices.ContainsFunc(list, func(f zip.File) bool { return f.Path() == "LICENSE" }) {
		list = append(list, file{path: "LICENSE", from: filepath.Join(s.dir, "LICENSE")})
	}
	return list
}

type file struct{ path, from string }

func (f file) Path() string                 { return path.Clean(f.path) }
func (f file) Lstat() (fs.FileInfo, error)  { return os.Lstat(f.from) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.from) }
