// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// BuildAll makes the test binaries of packages, below work, in as few builds as
// possible. Packages without requested benchmarks have none.
func BuildAll(
	ctx context.Context, tc *toolchain.Toolchain, pkgs []*load.Package, o Options, moduleDir,
	work string,
) ([]*Binary, error) {
	tc, err := tc.Measuring()
	if err != nil {
		return nil, err
	}
	std, err := standard(tc, work)
	if err != nil {
		return nil, err
	}
	var all, broken []*Binary
	added := maps.Clone(std)
	for _, p := range pkgs {
		b := &Binary{Package: p, tc: tc, dir: moduleDir, added: map[string]string{}}
		if err := b.prepare(o, work); err != nil {
			return nil, err
		}
		switch {
		case len(b.Names) == 0:
		case b.Broken != nil:
			broken = append(broken, b)
		default:
			all = append(all, b)
			maps.Copy(added, b.added)
		}
	}
	if len(all) == 0 {
		return broken, nil
	}
	common, err := overlay(filepath.Join(work, "measure"), added)
	if err != nil {
		return nil, err
	}
	for _, group := range groups(all) {
		for _, b := range group {
			b.overlay = common
		}
		if err := apart(ctx, group, work); err != nil {
			return nil, err
		}
	}
	return append(all, broken...), nil
}

// overlay writes the file for -overlay.
func overlay(name string, replace map[string]string) (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name += ".overlay.json"
	return name, os.WriteFile(name, text, 0o644)
}

// groups splits the binaries so that no two in a group have the same name.
func groups(all []*Binary) []map[string]*Binary {
	var out []map[string]*Binary
next:
	for _, b := range all {
		name := executable(b.Package.ImportPath)
		for _, g := range out {
			if g[name] == nil {
				g[name] = b
				continue next
			}
		}
		out = append(out, map[string]*Binary{name: b})
	}
	return out
}

var majorVersion = regexp.MustCompile(`^v([2-9]|[1-9][0-9]+)$`)

// executable returns the name that the go command gives the test binary of a
// package.
func executable(importPath string) string {
	dir, name := path.Split(importPath)
	if dir != "" && majorVersion.MatchString(name) {
		name = path.Base(dir)
	}
	return name + ".test"
}

// apart builds a group. After an error it builds each package without a binary
// alone: the error of the group is about all of them, and the go command may
// have stopped before the others.
func apart(ctx context.Context, group map[string]*Binary, work string) error {
	err := together(ctx, group, work)
	if err == nil || ctx.Err() != nil {
		return err
	}
	for name, b := range group {
		if _, missing := os.Stat(b.Path); missing == nil {
			continue
		}
		if len(group) > 1 {
			err = together(ctx, map[string]*Binary{name: b}, work)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.Broken = err
	}
	return nil
}

// together builds a group, in a new directory of work.
func together(ctx context.Context, group map[string]*Binary, work string) error {
	dir, err := os.MkdirTemp(work, "measure-")
	if err != nil {
		return err
	}
	var first *Binary
	args := []string{
		"test", "-c", "-vet=off", toolchain.NoDebug, "-o", dir + string(filepath.Separator),
	}
	for name, b := range group {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		b.Path = filepath.Join(dir, name)
		args = append(args, b.Package.ImportPath)
		first = b
	}
	args = slices.Insert(args, 4, "-overlay", first.overlay)
	if _, err = first.tc.Go(ctx, first.dir, args...); err != nil {
		return err
	}
	for _, b := range group {
		if _, err := os.Stat(b.Path); err != nil {
			return fmt.Errorf("the go command has built no such test binary: %w", err)
		}
	}
	return nil
}

// prepare finds the benchmarks, and writes the file that measures them. It is
// added to one of the two packages of tests in a directory.
func (b *Binary) prepare(o Options, work string) error {
	p := b.Package
	for _, set := range []struct {
		files    []string
		pkg, add string
	}{
		{p.TestGoFiles, p.Name, "allocs_measures_this_test.go"},
		{p.XTestGoFiles, p.Name + "_test", "allocs_measures_this_x_test.go"},
	} {
		for _, name := range set.files {
			names, err := benchmarks(filepath.Join(p.Dir, name), o.Bench)
			b.Broken = errors.Join(b.Broken, err)
			b.Names = append(b.Names, names...)
		}
		if len(set.files) == 0 || len(b.added) > 0 {
			continue
		}
		text, err := measuring(set.pkg)
		if err != nil {
			return err
		}
		to := filepath.Join(work, strings.ReplaceAll(p.ImportPath, "/", "-")+"-"+set.add)
		b.added[filepath.Join(p.Dir, set.add)] = to
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
