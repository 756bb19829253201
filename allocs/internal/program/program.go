// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

//go:embed canary.go.txt
var canarySource string

// Build is a set of executables that together hold every function of the
// packages.
type Build struct {
	Overlay string        // file for go build -overlay
	Targets []string      // main packages: the modules' own, and those in the overlay
	Canary  *load.Package // functions with known answers; it exists only in the overlay
}

// Prepare writes the overlay for the packages below work. Packages that src
// does not have keep the functions that are called.
func Prepare(pkgs []*load.Package, src *load.Source, work string) (*Build, error) {
	replace := map[string]string{}
	add := func(path, text string) error {
		sum := sha256.Sum256([]byte(path + "\x00" + text))
		to := filepath.Join(work, "overlay-"+hex.EncodeToString(sum[:8])+".go")
		replace[path] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	b := &Build{Canary: canary(pkgs[0])}
	err := add(b.Canary.Sources()[0], canarySource)
	lists := map[tree][]string{ // the variables that a main package refers to
		treeOf(b.Canary): {quoted(b.Canary.ImportPath, "All")},
	}
	for _, p := range pkgs {
		if len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue // nothing but tests: there is no program to build
		}
		same := func(typed *packages.Package) bool { return typed.PkgPath == p.ImportPath }
		i := slices.IndexFunc(src.Packages, same)
		if i < 0 {
			continue
		}
		text := keepFile(p, src.Fset, src.Packages[i].Types)
		if p.Name == "main" {
			b.Targets = append(b.Targets, p.ImportPath)
			text += "\nfunc init() {\n" + refer(keepName(p.ImportPath)) + "}\n"
		} else {
			at := treeOf(p)
			lists[at] = append(lists[at], quoted(p.ImportPath, keepName(p.ImportPath)))
		}
		err = errors.Join(err, add(filepath.Join(p.Dir, "allocs_keeps_these.go"), text))
	}
	byPath := func(a, b tree) int { return strings.Compare(a.path, b.path) }
	for _, at := range slices.SortedFunc(maps.Keys(lists), byPath) {
		err = errors.Join(err, add(filepath.Join(at.dir, mainDir, "main.go"), mainFile(lists[at])))
		b.Targets = append(b.Targets, at.path+"/"+mainDir)
	}
	text, failed := json.Marshal(map[string]any{"Replace": replace})
	b.Overlay = filepath.Join(work, "overlay.json")
	return b, errors.Join(err, failed, os.WriteFile(b.Overlay, text, 0o644))
}

// mainDir is the directory of a main package that exists only in the overlay.
const mainDir = "allocs_holds_all"

// canary returns the package with known answers, beside another one.
func canary(beside *load.Package) *load.Package {
	const name = "allocs_canary"
	m := beside.Module
	return &load.Package{
		ImportPath: m.Path + "/" + name, Name: name, Dir: filepath.Join(m.Dir, name),
		GoFiles: []string{"canary.go"}, Module: m,
	}
}

// tree is a directory that packages can be imported in.
type tree struct{ path, dir string }

// treeOf returns the tree that a package must be imported in: a package below
// a directory "internal" may only be imported from the tree that holds it.
func treeOf(p *load.Package) tree {
	rest := strings.TrimPrefix(p.ImportPath, p.Module.Path)
	i := strings.LastIndex(rest+"/", "/internal/")
	if i < 0 {
		return tree{p.Module.Path, p.Module.Dir}
	}
	return tree{p.Module.Path + rest[:i], filepath.Join(p.Module.Dir, filepath.FromSlash(rest[:i]))}
}

// quoted returns a variable of a package, in the form that mainFile takes.
func quoted(path, variable string) string { return strconv.Quote(path) + " " + variable }

// mainFile returns a main package that refers to variables of other packages.
func mainFile(variables []string) string {
	var imports, references strings.Builder
	for i, v := range variables {
		path, name, _ := strings.Cut(v, " ")
		fmt.Fprintf(&imports, "import p%d %s\n", i, path)
		references.WriteString(refer(fmt.Sprintf("p%d.%s", i, name)))
	}
	return fmt.Sprintf("package main\n\n%s\nfunc main() {\n%s}\n", &imports, &references)
}

// refer returns a statement that the linker must keep a list of functions for.
func refer(variable string) string {
	return "\tfor _, f := range " + variable + " {\n\t\tprintln(f)\n\t}\n"
}

// Link builds the executable of a target.
func (b *Build) Link(
	ctx context.Context, tc *toolchain.Toolchain, moduleDir, target, exe string,
) error {
	_, err := tc.Go(ctx, moduleDir,
		"build", toolchain.NoDebug, "-overlay", b.Overlay, "-o", exe, target)
	return err
}
