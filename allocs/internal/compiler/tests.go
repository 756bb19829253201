// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/nib-log/nib/allocs/internal/load"
)

// CollectTests returns the escapes in the test files of the packages, by the
// import path and " tests". Their code is compiled with the package's a second
// time, and only go test does it. Tests that cannot be built have none.
func (c *Collector) CollectTests(ctx context.Context, pkgs []*load.Package) (map[string][]Escape, error) {
	out := map[string][]Escape{}
	for _, p := range pkgs {
		escapes, err := c.compileTests(ctx, p)
		if ctx.Err() != nil {
			return nil, err
		}
		if err == nil { // otherwise it is reported where the tests are built to be measured
			out[p.ImportPath+" tests"] = escapes
		}
	}
	return out, nil
}

func (c *Collector) compileTests(ctx context.Context, p *load.Package) ([]Escape, error) {
	dir, err := os.MkdirTemp(c.Work, "diagnostics-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := c.Toolchain.Go(ctx, c.Dir, "test", "-c", "-vet=off", "-o", filepath.Join(dir, "tests"),
		"-gcflags="+p.ImportPath+"=-json=0,"+output(dir, p), p.ImportPath); err != nil {
		return nil, err
	}
	escapes, err := read(output(dir, p), p)
	return slices.DeleteFunc(escapes, func(e Escape) bool { return !load.IsTest(e.Stack[len(e.Stack)-1].File) }), err
}
