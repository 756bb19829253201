// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"slices"
	"sort"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/progress"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// measure builds and runs the test binaries. Their code is evidence too:
// generic functions have code only where they are used.
func (s *session) measure(ctx context.Context, tc *toolchain.Toolchain, own []*load.Package, work string, in *verdict.Input, out *Toolchain, part *progress.Part) error {
	if s.Bench == nil && s.Tests == nil && len(s.inTests) == 0 {
		return nil
	}
	if !tc.Native() {
		out.Trouble = append(out.Trouble, "nothing was run: programs for "+tc.GOOS+"/"+tc.GOARCH+" do not run here")
		own = s.tested(own)
	}
	o := runs.Options{Bench: s.Bench, Tests: s.Tests, Timeout: s.Timeout, Budget: runBudget}
	var paths, dirs []string
	for _, p := range own {
		paths, dirs = append(paths, p.ImportPath), append(dirs, p.Dir)
	}
	m := &measuring{s, tc, o, paths, dirs, work, in, out, part}
	part.Packages(withTests(own))
	for _, p := range own {
		if withTests([]*load.Package{p}) == 0 {
			continue
		}
		if err := m.pkg(ctx, p); err != nil {
			return err
		}
	}
	sort.Slice(in.Runs, func(i, j int) bool { return in.Runs[i].Name < in.Runs[j].Name })
	out.Runs = in.Runs
	return nil
}

// tested are the packages whose test files hold roots.
func (s *session) tested(pkgs []*load.Package) []*load.Package {
	return slices.DeleteFunc(slices.Clone(pkgs), func(p *load.Package) bool { return !s.inTests[p.Dir] })
}

// measuring is the work of measure on one toolchain.
type measuring struct {
	s           *session
	tc          *toolchain.Toolchain
	o           runs.Options
	paths, dirs []string // of all packages
	work        string
	in          *verdict.Input
	out         *Toolchain
	part        *progress.Part
}

// pkg measures one package. That its runs fail is told and is no error: there is
// other evidence.
func (m *measuring) pkg(ctx context.Context, p *load.Package) error {
	m.part.Start(progress.Measure, p.ImportPath)
	m.o.Keep = m.s.inTests[p.Dir]
	b, err := runs.Build(ctx, m.tc, p, m.o, m.s.report.ModuleDir, m.work)
	if err != nil {
		return err
	}
	if b == nil {
		return nil
	}
	code, err := binary.Open(b.Path, "")
	if err != nil {
		return err
	}
	m.in.Programs = append(m.in.Programs, code)
	if len(b.Names) == 0 || !m.tc.Native() {
		return nil
	}
	results, err := b.Run(ctx, m.tc, m.o, m.s.Cache)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		m.out.Trouble = append(m.out.Trouble, err.Error())
		return nil
	}
	for _, r := range results {
		if r.Failed != "" {
			m.out.Trouble = append(m.out.Trouble, p.ImportPath+"."+r.Name+": "+r.Failed)
			continue
		}
		m.in.Runs = append(m.in.Runs, r)
	}
	m.part.Start(progress.Visit, p.ImportPath)
	visited, err := b.Visit(ctx, m.tc, m.o, results, m.paths, m.dirs, m.s.Cache)
	if err != nil {
		m.out.Trouble = append(m.out.Trouble, err.Error())
		return nil
	}
	m.in.Visited = append(m.in.Visited, visited)
	return nil
}

// withTests counts the packages that have test files.
func withTests(pkgs []*load.Package) int {
	n := 0
	for _, p := range pkgs {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			n++
		}
	}
	return n
}
