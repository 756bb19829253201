// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// measure builds and runs the test binaries. Their code is also evidence:
// generic functions have code only where they are used.
func (s *session) measure(
	ctx context.Context, tc *toolchain.Toolchain, own []*load.Package, work string,
	in *verdict.Input, out *Toolchain,
) error {
	if s.Bench == nil {
		return nil
	}
	o := runs.Options{Bench: s.Bench, Budget: runBudget}
	var paths, dirs []string
	for _, p := range own {
		paths, dirs = append(paths, p.ImportPath), append(dirs, p.Dir)
	}
	binaries, err := runs.BuildAll(ctx, tc, own, o, s.report.ModuleDir, work)
	if err != nil {
		return err
	}
	if len(binaries) == 0 && s.Bench.String() != "." {
		const text = "--bench %s matches nothing in these packages"
		out.Trouble = append(out.Trouble, fmt.Sprintf(text, s.Bench))
	}
	m := &measuring{s, tc, o, paths, dirs, in, out}
	for _, b := range binaries {
		if err := m.binary(ctx, b); err != nil {
			return err
		}
	}
	ordered(in.Runs, s.report.ModulePath)
	ordered(out.Runs, s.report.ModulePath)
	return nil
}

// runBudget is the target time of one benchmark.
const runBudget = 300 * time.Millisecond

// measuring is the work of measure on one toolchain.
type measuring struct {
	s           *session
	tc          *toolchain.Toolchain
	o           runs.Options
	paths, dirs []string // import paths and directories of all packages
	in          *verdict.Input
	out         *Toolchain
}

// binary measures one package. A failed run is reported but is not an error:
// there is other evidence.
func (m *measuring) binary(ctx context.Context, b *runs.Binary) error {
	p := b.Package
	m.s.step(m.tc.String() + "  measuring " + p.ImportPath)
	if b.Broken != nil {
		m.out.broken(p, b)
		return nil
	}
	code, err := binary.Open(b.Path, "")
	if err != nil {
		return err
	}
	m.in.Programs = append(m.in.Programs, code)
	place := b.Place(m.s.Cache, m.o, m.paths)
	if kept, ok := b.Load(place); ok {
		m.in.Runs = append(m.in.Runs, m.out.took(kept.Results)...)
		m.in.Visits = append(m.in.Visits, &verdict.Visit{Visited: kept.Visited, Program: code})
		return nil
	}
	results, err := b.Run(ctx, m.o)
	if err != nil {
		return err
	}
	m.in.Runs = append(m.in.Runs, m.out.took(results)...)
	m.s.step(m.tc.String() + "  seeing which lines are run in " + p.ImportPath)
	visited, err := b.Visit(ctx, m.o, results, m.paths, m.dirs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		m.out.Trouble = append(m.out.Trouble, err.Error())
		return nil
	}
	b.Keep(place, results, visited)
	m.in.Visits = append(m.in.Visits, &verdict.Visit{Visited: visited, Program: code})
	return nil
}

// broken records that the tests of a package could not be built. Each of its
// benchmarks is a run without a count, which the gate does not accept in the
// place of a count.
func (t *Toolchain) broken(p *load.Package, b *runs.Binary) {
	why := "the tests of the package do not build: " + toolchain.Said(b.Broken)
	t.Trouble = append(t.Trouble, "not measured: "+p.ImportPath+": "+why)
	for _, name := range b.Names {
		t.Runs = append(t.Runs, runs.Result{Package: p.ImportPath, Name: name, Failed: why})
	}
}

// took records all results, and returns those that were measured.
func (t *Toolchain) took(results []runs.Result) []runs.Result {
	var measured []runs.Result
	for _, r := range results {
		if r.Failed != "" {
			first, _, _ := strings.Cut(r.Failed, "\n")
			t.Trouble = append(t.Trouble, "not measured: "+r.Package+"."+r.Name+": "+first)
			continue
		}
		if n := r.Cut(); n > 0 {
			t.Trouble = append(t.Trouble, fmt.Sprintf(
				"not exact: %s.%s: %.4g allocations per operation have a deeper stack than this "+
					"release notes, and count for no function that is further up", r.Package,
				r.Name, n))
		}
		measured = append(measured, r)
	}
	t.Runs = append(t.Runs, results...)
	return measured
}

// ordered sorts the results, and gives leaves of different packages different
// names.
func ordered(all []runs.Result, modulePath string) {
	slices.SortFunc(all, func(a, b runs.Result) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Package, b.Package))
	})
	packages := map[string]map[string]bool{}
	for _, r := range all {
		if packages[r.Name] == nil {
			packages[r.Name] = map[string]bool{}
		}
		packages[r.Name][r.Package] = true
	}
	for i := range all {
		if r := &all[i]; len(packages[r.Name]) > 1 {
			r.Title = strings.TrimPrefix(strings.TrimPrefix(r.Package, modulePath), "/") + "." +
				r.Name
		}
	}
}
