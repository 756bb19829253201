// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// ErrSilent means that the compiler ran and wrote no diagnostics.
var ErrSilent = errors.New("the compiler wrote no diagnostics")

// Collector collects the diagnostics of one toolchain.
type Collector struct {
	Toolchain *toolchain.Toolchain
	Work      string // directory for this run
	Dir       string // directory of the module
	Overlay   string // file for -overlay, or ""
}

// Collect compiles the packages and returns their escapes, by import path.
func (c *Collector) Collect(
	ctx context.Context, pkgs []*load.Package,
) (map[string][]Escape, error) {
	out := map[string][]Escape{}
	pkgs = slices.DeleteFunc(slices.Clone(pkgs), func(p *load.Package) bool {
		return len(p.Sources()) == 0
	})
	dir, err := os.MkdirTemp(c.Work, "diagnostics-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	overlay := filepath.Join(dir, "overlay.json")
	original, err := c.rename(pkgs, overlay)
	if err != nil {
		return nil, err
	}
	if err := c.compile(ctx, pkgs, dir, overlay); err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		escapes, err := read(output(dir, p), p)
		if err != nil {
			return nil, err
		}
		for i := range escapes {
			escapes[i].restore(original)
		}
		out[p.ImportPath] = escapes
	}
	return out, nil
}

// output returns the directory of a package's diagnostics. Each package has its
// own, as all main packages would write to the same name.
func output(dir string, p *load.Package) string {
	sum := sha256.Sum256([]byte(p.ImportPath))
	return filepath.Join(dir, "out-"+hex.EncodeToString(sum[:8]))
}

// compile builds the packages, each with its diagnostics going to output.
func (c *Collector) compile(ctx context.Context, pkgs []*load.Package, dir, overlay string) error {
	// No program is written. With a directory for -o, go compiles only the imports
	// of the programs among the packages.
	args := []string{"build", "-o", os.DevNull, "-overlay", overlay}
	var paths []string
	for _, p := range pkgs {
		args = append(args, "-gcflags="+p.ImportPath+"=-json=0,"+output(dir, p))
		paths = append(paths, p.ImportPath)
	}
	_, err := c.Toolchain.Go(ctx, c.Dir, append(append(args, "--"), paths...)...)
	return err
}

// hasFunctions reports whether the compiler prints anything about a package:
// for each function that is not generic it prints at least whether it can be
// inlined.
func hasFunctions(p *load.Package) bool {
	for _, name := range p.Sources() {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return true
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Body != nil && fn.Type.TypeParams == nil &&
				(fn.Recv == nil || !strings.Contains(types.ExprString(fn.Recv.List[0].Type), "[")) {
				return true
			}
		}
	}
	return false
}

// read returns the diagnostics of a package. It is an error if there are none:
// a missing answer must not look like a clean one.
func read(dir string, p *load.Package) ([]Escape, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && hasFunctions(p) {
		return nil, fmt.Errorf("%s: %w", p.ImportPath, ErrSilent)
	}
	var out []Escape
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		escapes, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		out = append(out, escapes...)
	}
	return out, nil
}
