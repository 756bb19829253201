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

// List returns the packages that match the patterns, as listed by the go
// command with extra flags such as -deps, -export or -overlay.
func List(ctx context.Context, tc *toolchain.Toolchain, dir string, flags, patterns []string) ([]*Package, error) {
	const form = "-json=ImportPath,Name,DepOnly,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Module,Error"
	args := append([]string{"list", form}, flags...)
	out, err := tc.Go(ctx, dir, append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, broken(err)
	}
	var pkgs []*Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(Package)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	return pkgs, nil
}

// Intact returns the packages that match the patterns and build, and why each
// other one does not.
func Intact(
	ctx context.Context, tc *toolchain.Toolchain, dir string, patterns []string,
) (intact []string, why map[string]string, err error) {
	const form = "-json=ImportPath,DepOnly,Deps,Error"
	args := append([]string{"list", "-e", "-export", "-deps", form, "--"}, patterns...)
	out, err := tc.Go(ctx, dir, args...)
	if err != nil {
		return nil, nil, broken(err)
	}
	type listed struct {
		ImportPath string
		DepOnly    bool
		Deps       []string
		Error      *struct{ Err string }
	}
	why, failed := map[string]string{}, map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; { // dependencies come first
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return intact, why, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil {
			text := strings.TrimPrefix(p.Error.Err, "# "+p.ImportPath+"\n")
			failed[p.ImportPath] = strings.TrimSpace(text)
		}
		i := slices.IndexFunc(p.Deps, func(d string) bool { return failed[d] != "" })
		switch {
		case p.DepOnly:
		case failed[p.ImportPath] != "":
			why[p.ImportPath] = failed[p.ImportPath]
		case i >= 0:
			why[p.ImportPath] = "it imports " + p.Deps[i]
			if why[p.Deps[i]] == "" {
				why[p.ImportPath] += ": " + failed[p.Deps[i]]
			}
		default:
			intact = append(intact, p.ImportPath)
		}
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
func Typed(ctx context.Context, dir string, patterns []string) (*Source, error) {
	fset := token.NewFileSet()
	var env []string
	if flags := os.Getenv("GOFLAGS"); strings.Contains(flags, "-trimpath") {
		env = []string{"GOFLAGS=" + flags + " -trimpath=false"}
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir, Fset: fset, Env: append(os.Environ(), env...),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, cause(ctx, dir, patterns, env, p)
		}
	}
	return &Source{Fset: fset, Packages: pkgs}, nil
}

// ErrBroken means that the packages cannot be found or built.
var ErrBroken = errors.New("the go command reports")

// broken returns the output of the go command, which also states what to do.
func broken(err error) error { return fmt.Errorf("%w\n%s", ErrBroken, toolchain.Said(err)) }

// cause returns the error for a package with errors.
func cause(
	ctx context.Context, dir string, patterns, env []string, p *packages.Package,
) error {
	args := []string{"list", "-export", "-deps", "--"}
	if err := toolchain.Default(ctx, dir, env, append(args, patterns...)...); err != nil {
		return broken(err)
	}
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Error())
	}
	return fmt.Errorf("%s: %s", p.PkgPath, strings.Join(all, "\n"))
}
