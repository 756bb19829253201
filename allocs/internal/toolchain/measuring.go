// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// oldest is the first minor release that is checked.
const oldest = 24

// minor returns the second number of a release: 26 for go1.26.8. A version in
// another form, such as a development version, counts as very new.
func minor(version string) int {
	var n int
	if _, err := fmt.Sscanf(version, "go1.%d", &n); err != nil {
		return 1 << 20
	}
	return n
}

// Measuring returns the toolchain for builds with a changed standard library,
// in which mallocgc allocates all objects. Since Go 1.26 there are separate
// functions for single sizes. Since Go 1.25 an overlay cannot replace files of
// the module cache, which contains most releases.
func (t *Toolchain) Measuring() (*Toolchain, error) {
	m := *t
	m.extra = slices.Clip(m.extra)
	if strings.Contains(filepath.ToSlash(t.GOROOT), "/golang.org/toolchain@") {
		if err := m.moveRoot(); err != nil {
			return nil, err
		}
	}
	const off = "nosizespecializedmalloc"
	if _, err := os.Stat(filepath.Join(t.GOROOT, "src", "internal", "goexperiment",
		"exp_sizespecializedmalloc_off.go")); err == nil {
		m.extra = append(m.extra,
			"GOEXPERIMENT="+strings.TrimPrefix(os.Getenv("GOEXPERIMENT")+","+off, ","))
	}
	return &m, nil
}

// moveRoot gives the release a root outside of the module cache, using a
// symbolic link, and runs its go command from there.
func (t *Toolchain) moveRoot() error {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	base = filepath.Join(base, "nib-allocs", "roots")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	link := filepath.Join(base, t.Version)
	if at, err := os.Readlink(link); err != nil || at != t.GOROOT {
		if err := relink(t.GOROOT, link); err != nil {
			return err
		}
	}
	t.GOROOT, t.command = link, filepath.Join(link, "bin", "go")
	t.extra = append(t.extra, "GOROOT="+link)
	return nil
}

// relink makes link a symbolic link to root, at once: another run may build
// with it.
func relink(root, link string) error {
	dir, err := os.MkdirTemp(filepath.Dir(link), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "root")
	if err := os.Symlink(root, made); err != nil {
		return err
	}
	if os.Rename(made, link) == nil {
		return nil
	}
	_ = os.Remove(link) // on Windows, a link to a directory is not replaced
	return os.Rename(made, link)
}
