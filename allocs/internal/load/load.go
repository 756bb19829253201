// SPDX-License-Identifier: Apache-2.0

// Package load loads the packages of a module: once per toolchain as the go
// command lists them, with their files and builds, and once with types, to
// analyze the source.
package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Package is a package as the go command of one toolchain reports it.
type Package struct {
	ImportPath   string
	DepOnly      bool // only a dependency of packages that match a pattern
	Name         string
	Dir          string
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Module       *struct {
		Path, Dir string
		Main      bool
	}
	Deps  []string
	Error *struct{ Err string }
}

// Main reports whether the package belongs to the module being checked.
func (p *Package) Main() bool { return p.Module != nil && p.Module.Main }

// Sources returns the paths of the package's Go files without the tests.
func (p *Package) Sources() []string {
	var out []string
	for _, f := range slices.Concat(p.GoFiles, p.CgoFiles) {
		if !filepath.IsAbs(f) {
			f = filepath.Join(p.Dir, f)
		}
		out = append(out, f)
	}
	return out
}

// List returns the packages of the module that build, of all that match the
// patterns or are imported by such, and why the others that match do not.
func List(
	ctx context.Context, tc *toolchain.Toolchain, dir string, patterns []string,
) (pkgs []*Package, broken map[string]string, err error) {
	const form = "-json=ImportPath,Name,DepOnly,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles," +
		"Module,Deps,Error"
	list := func(flags ...string) ([]byte, error) {
		all := slices.Concat([]string{"list", "-export", "-deps"}, flags, patterns)
		return tc.Go(ctx, dir, all...)
	}
	out, err := list("-e", form, "--")
	if err != nil {
		return nil, nil, reported(err)
	}
	listed, err := decode(out)
	if err != nil {
		return nil, nil, err
	}
	matching := false
	broken = map[string]string{}
	failed := map[string]string{}
	hasFailed := func(p string) bool { return failed[p] != "" }
	for _, p := range listed { // first, as packages that import each other have no order
		if p.Error != nil {
			text := strings.TrimPrefix(p.Error.Err, "# "+p.ImportPath+"\n")
			failed[p.ImportPath] = strings.TrimSpace(text)
		}
	}
	for _, p := range listed { // dependencies come first
		if i := slices.IndexFunc(p.Deps, hasFailed); i >= 0 && p.Error == nil {
			failed[p.ImportPath] = "it imports " + p.Deps[i]
			if broken[p.Deps[i]] == "" {
				failed[p.ImportPath] += ": " + failed[p.Deps[i]]
			}
		}
		switch why := failed[p.ImportPath]; {
		case why != "" && !p.DepOnly:
			broken[p.ImportPath] = why
		case why == "" && p.Main():
			pkgs = append(pkgs, p)
			matching = matching || !p.DepOnly
		}
	}
	if !matching {
		if _, err := list("--"); err != nil { // it states what to do
			return nil, nil, reported(err)
		}
		const text = "no package of the module matches %s"
		return nil, nil, fmt.Errorf(text, strings.Join(patterns, " "))
	}
	return pkgs, broken, nil
}

// decode reads the packages that the go command lists.
func decode(out []byte) (all []*Package, err error) {
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(Package)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// Source is the module with syntax and types. It is loaded with the current
// toolchain, since the source is the same for all.
type Source struct {
	Fset     *token.FileSet
	Packages []*packages.Package
}

// Typed parses and checks the packages that match the patterns, without their
// tests.
//
// With -trimpath in GOFLAGS, the go command would compile all that is imported
// once more: builds of a toolchain do not have it.
func Typed(
	ctx context.Context, dir string, patterns []string, env ...string,
) (*Source, error) {
	fset := token.NewFileSet()
	if flags := os.Getenv("GOFLAGS"); strings.Contains(flags, "-trimpath") {
		env = append(env, "GOFLAGS="+flags+" -trimpath=false")
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir, Fset: fset, Env: append(os.Environ(), env...),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			var all []string
			for _, e := range p.Errors {
				all = append(all, e.Error())
			}
			return nil, fmt.Errorf("%s: %s", p.PkgPath, strings.Join(all, "\n"))
		}
	}
	return &Source{Fset: fset, Packages: pkgs}, nil
}

// reported returns an error with the output of the go command, which also
// states what to do.
func reported(err error) error {
	return fmt.Errorf("the go command reports\n%s", toolchain.Said(err))
}
