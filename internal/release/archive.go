// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// A member is a file in an archive.
type member struct {
	name string
	mode fs.FileMode
	text []byte
}

// isLicense finds the files that a license requires with a binary.
var isLicense = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^(copying|copyright|notice|patents)`)

// licenses returns the licenses of Go and of each module in a binary. cache is
// the module cache that it was built from.
func licenses(binary, cache, goroot string) (list []member, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(goroot, "LICENSE"))
	if err != nil {
		return nil, err
	}
	list = append(list, member{"licenses/" + info.GoVersion + "/LICENSE", 0o644, text})
	for _, m := range info.Deps {
		escaped, err := module.EscapePath(m.Path)
		if err != nil {
			return nil, err
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return nil, err
		}
		found, err := licensesBelow(filepath.Join(cache, filepath.FromSlash(escaped)+"@"+version))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s@%s: has no license file", m.Path, m.Version)
		}
		for _, f := range found {
			f.name = path.Join("licenses", m.Path+"@"+m.Version, f.name)
			list = append(list, f)
		}
	}
	return list, nil
}

// licensesBelow returns the licenses of a module and of the code that it has
// copied into its directories.
func licensesBelow(dir string) (list []member, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !isLicense.MatchString(d.Name()) || path.Ext(d.Name()) == ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		list = append(list, member{filepath.ToSlash(below), 0o644, text})
		return err
	})
	return list, err
}

// pagePackages returns the directories with the licenses of the npm packages in
// the pages of a program, each named by its package and version. The build of a
// page writes them.
func pagePackages(program string) ([]string, error) {
	return filepath.Glob(filepath.Join(program, "*", "page", "dist", "licenses", "*@*"))
}

// pageLicenses returns the licenses of the npm packages in the pages of a
// program.
func pageLicenses(program string) (list []member, err error) {
	dirs, err := pagePackages(program)
	for _, dir := range dirs {
		found, err := licensesBelow(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			f.name = path.Join("licenses", "npm", filepath.Base(dir), f.name)
			list = append(list, f)
		}
	}
	return list, err
}

// archives puts each binary of a directory into an archive, with the licenses
// of all its code.
func (u *user) archives(dist string) error {
	goroot, err := u.run(".", "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(u.dir, "LICENSE"))
	if err != nil {
		return err
	}
	for _, target := range targets {
		for _, folder := range installed {
			binary := filepath.Join(dist, binaryName(folder, u.version, target))
			third, err := licenses(binary, filepath.Join(u.home, "go", "pkg", "mod"), strings.TrimSpace(string(goroot)))
			if err != nil {
				return err
			}
			text, err := os.ReadFile(binary)
			if err != nil {
				return err
			}
			files := append([]member{{programName(folder, target), 0o755, text}, {"LICENSE", 0o644, license}}, third...)
			pages, err := pageLicenses(filepath.Join(u.dir, folder))
			if err != nil {
				return err
			}
			files = append(files, pages...)
			if err := archive(strings.TrimSuffix(binary, ".exe"), target, files); err != nil {
				return err
			}
			if err := os.Remove(binary); err != nil {
				return err
			}
		}
	}
	fmt.Println("ok     archives have the licenses of all modules")
	return nil
}

// archive writes a zip for Windows, and a tar.gz for others. Its bytes depend
// on the files only.
func archive(to, target string, files []member) error {
	var (
		b      bytes.Buffer
		err    error
		suffix = ".tar.gz"
	)
	if strings.HasPrefix(target, "windows/") {
		suffix, err = ".zip", zipTo(&b, files)
	} else {
		err = tarTo(&b, files)
	}
	return errors.Join(err, os.WriteFile(to+suffix, b.Bytes(), 0o644))
}

// epoch is the time of all files in an archive: the earliest that a zip can
// have.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func zipTo(b *bytes.Buffer, files []member) error {
	z := zip.NewWriter(b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
	}
	return z.Close()
}

func tarTo(b *bytes.Buffer, files []member) error {
	g := gzip.NewWriter(b)
	t := tar.NewWriter(g)
	for _, f := range files {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: epoch}); err != nil {
			return err
		}
		if _, err := t.Write(f.text); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), g.Close())
}
