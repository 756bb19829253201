// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The first releases with each ability that older ones lack.
const (
	testsJoined  = 21 // go test -c takes several packages
	selfFetching = 21 // from this release on a line is named by its first release, "1.21.0"
	plainTables  = 20 // executables have the line table that package binary reads
	rootMovable  = 19 // this release mistakes its own library for a module if it is in the module cache
	versionStamp = 18 // go build has -buildvcs
	overlays     = 17 // go supports -overlay, also for test files
	readsOnly    = 16 // go build does not write go.mod by itself
	listFields   = 19 // go list -json takes a list of fields
	oldest       = 13 // the first release that is supported
)

// Minor returns the second number of the release: 26 for go1.26.8. A version in
// another form, such as a development version, counts as very new.
func (t *Toolchain) Minor() int { return minor(t.Version) }

func minor(version string) int {
	var n int
	if _, err := fmt.Sscanf(version, "go1.%d", &n); err != nil {
		return 1 << 20
	}
	return n
}

// Executables reports whether the executables of the release can be read.
// Otherwise the evidence is only -m=2 and runs.
func (t *Toolchain) Executables() bool { return t.Minor() >= plainTables }

// Overlay reports whether the go command has -overlay.
func (t *Toolchain) Overlay() bool { return t.Minor() >= overlays }

// TestsTogether reports whether one command can build the tests of several
// packages.
func (t *Toolchain) TestsTogether() bool { return t.Minor() >= testsJoined }

// ListFields reports whether go list can be asked for single fields.
func (t *Toolchain) ListFields() bool { return t.Minor() >= listFields }

// newest returns the last release of a minor version before Go 1.21, such as
// "1.17.13" for "1.17", which alone would name the first release.
func newest(ctx context.Context, dir, line string) (string, error) {
	out, err := run(ctx, dir, os.Environ(), "go", "list", "-mod=readonly", "-m", "-versions", "-f", `{{join .Versions "\n"}}`, "go")
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrRelease, line, err)
	}
	best, name := -1, ""
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		var n int
		if _, err := fmt.Sscanf(sc.Text(), line+".%d", &n); err == nil && n > best && fmt.Sprintf("%s.%d", line, n) == sc.Text() {
			best, name = n, sc.Text()
		}
	}
	if name == "" {
		return "", fmt.Errorf("%w: %s", ErrRelease, line)
	}
	return "go" + name, nil
}

// kept lists settings of the go command that a user may have set with go env -w
// and that old releases need.
var kept = []string{"GOPATH", "GOCACHE", "GOPROXY", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB", "GOINSECURE"}

// settle prepares the environment of an old release, once.
func (t *Toolchain) settle(ctx context.Context, dir string) error {
	if t.Minor() >= selfFetching {
		return nil
	}
	out, err := run(ctx, dir, os.Environ(), "go", append([]string{"env", "GOFLAGS"}, kept...)...)
	if err != nil {
		return err
	}
	// The file of go env -w may contain flags that the release does not know, and
	// an empty GOFLAGS in the environment does not override them.
	t.extra = []string{"GOENV=off"}
	values := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	t.flags = values[0]
	for i, value := range values[1:] {
		if i < len(kept) && value != "" {
			t.extra = append(t.extra, kept[i]+"="+value)
		}
	}
	if t.Minor() < readsOnly {
		t.mod = "-mod=readonly"
	}
	if t.Minor() == rootMovable {
		return t.moveRoot()
	}
	return nil
}

// Writing returns a toolchain whose go command may write to go.mod and go.sum,
// for directories that are not the user's.
func (t *Toolchain) Writing() *Toolchain {
	free := *t
	free.mod = ""
	return &free
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
	if _, err := os.Stat(filepath.Join(t.GOROOT, "src", "internal", "goexperiment", "exp_sizespecializedmalloc_off.go")); err == nil {
		m.extra = append(m.extra, "GOEXPERIMENT="+strings.TrimPrefix(os.Getenv("GOEXPERIMENT")+","+off, ","))
	}
	return &m, nil
}

// Rooted returns the toolchain with another directory as its root.
func (t *Toolchain) Rooted(root string) *Toolchain {
	m := *t
	m.GOROOT, m.command = root, filepath.Join(root, "bin", "go")
	m.extra = append(slices.Clip(m.extra), "GOROOT="+root)
	return &m
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
