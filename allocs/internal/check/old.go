// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/outline"
	"github.com/nib-log/nib/allocs/internal/progress"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// OldSight is the text of the report for releases whose executables are not
// read.
const OldSight = "seen by -m=2 and benchmarks alone: executables of releases before Go 1.20 are not read, and what no run executes is unknown"

// old gathers the evidence of a release whose executables are not read.
func (s *session) old(ctx context.Context, tc *toolchain.Toolchain, work string, part *progress.Part) (*Toolchain, error) {
	part.Start(progress.Compile, "")
	c := &compiler.Collector{Toolchain: tc, Work: work, Dir: s.report.ModuleDir}
	if !tc.Overlay() {
		if err := s.mirror(c); err != nil {
			return nil, err
		}
	}
	own, err := s.listOld(ctx, c)
	if err != nil {
		return nil, err
	}
	s.named(own)
	s.matched(own)
	runs := s.Bench != nil || s.Tests != nil
	part.Start(progress.Canary, "")
	if err := oldCanary(ctx, tc, work, runs && tc.Native()); err != nil {
		return nil, err
	}
	out := &Toolchain{Toolchain: tc, Trouble: []string{OldSight}}
	part.Start(progress.Compiler, "")
	text, broken, err := said(ctx, c, own)
	if err != nil {
		return nil, err
	}
	for _, b := range broken {
		out.Trouble = append(out.Trouble, b.why)
	}
	if s.typed == nil {
		if s.typed, err = load.Typed(ctx, s.Dir, s.Patterns, len(s.inTests) > 0); err != nil {
			return nil, err
		}
	}
	escapes := map[string][]compiler.Escape{} // escapes that runs show and the outline does not reach
	for path, t := range text {
		escapes[path] = t.Escapes
	}
	in := &verdict.Input{
		Escapes:  compiler.NewIndex(escapes),
		InModule: s.home.Holds,
		Cold:     coldness(s.files),
		Waived:   s.waived,
	}
	in.Outline = outline.New(s.typed, text, in.Cold, in.Waived).Root
	if runs {
		s.measureOld(ctx, tc, own, broken, work, in, out, part)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	part.Start(progress.Decide, "")
	for _, r := range s.report.Roots.Roots {
		in := *in
		if b, ok := broken[r.Pkg]; ok {
			in.Outline = unknown(b)
		}
		out.Results = append(out.Results, in.Root(r))
	}
	return out, nil
}

// mirror lets the collector work in a mirror of the module: up to Go 1.15 the
// go command writes to go.mod, and fails if it cannot.
func (s *session) mirror(c *compiler.Collector) error {
	dir, module := filepath.Join(c.Work, "mirror"), s.report.ModuleDir
	if err := runs.Mirror(module, dir, nil); err != nil {
		return err
	}
	c.Dir, c.Toolchain = dir, c.Toolchain.Writing()
	c.Original = func(file string) string { return runs.Original(file, dir, module) }
	return nil
}

// listOld finds the packages of the module.
func (s *session) listOld(ctx context.Context, c *compiler.Collector) ([]*load.Package, error) {
	below, err := filepath.Rel(s.report.ModuleDir, s.Dir)
	if err != nil {
		return nil, err
	}
	pkgs, err := load.List(ctx, c.Toolchain, filepath.Join(c.Dir, below), nil, s.Patterns)
	if err != nil {
		return nil, err
	}
	var own []*load.Package
	for _, p := range pkgs {
		if !p.Main() {
			continue
		}
		if c.Original != nil {
			p.Dir = c.Original(p.Dir)
		}
		own = append(own, p)
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("no package of the module matches %s", strings.Join(s.Patterns, " "))
	}
	return own, nil
}

// failure is a package that the release does not compile.
type failure struct{ why string }

// said queries the compiler about all packages, or about each separately if
// that fails. It returns the packages that the release cannot compile by import
// path, and an error if there is no answer for any package.
func said(ctx context.Context, c *compiler.Collector, own []*load.Package) (map[string]*compiler.Text, map[string]failure, error) {
	all, err := c.CollectText(ctx, own)
	if err == nil || ctx.Err() != nil {
		return all, nil, err
	}
	text, broken := map[string]*compiler.Text{}, map[string]failure{}
	for _, p := range own {
		one, err := c.CollectText(ctx, []*load.Package{p})
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, err
			}
			broken[p.ImportPath] = failure{fmt.Sprintf("%s does not build with %s: %s", p.ImportPath, c.Toolchain, firstWords(err))}
			continue
		}
		for path, t := range one {
			text[path] = t
		}
	}
	if len(text) == 0 {
		return nil, nil, err
	}
	return text, broken, nil
}

// firstWords returns the first output of the go command.
func firstWords(err error) string {
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return err.Error()
}

// measureOld runs the benchmarks and tests. If some cannot be built or run,
// that is reported as trouble: the verdicts are then less certain, not wrong.
func (s *session) measureOld(ctx context.Context, tc *toolchain.Toolchain, own []*load.Package, broken map[string]failure, work string, in *verdict.Input, out *Toolchain, part *progress.Part) {
	trouble := func(err error) { out.Trouble = append(out.Trouble, err.Error()) }
	if !tc.Native() {
		trouble(fmt.Errorf("nothing was run: programs for %s/%s do not run here", tc.GOOS, tc.GOARCH))
		return
	}
	o := runs.Options{Bench: s.Bench, Tests: s.Tests, Timeout: s.Timeout, Budget: runBudget}
	var paths, dirs []string
	for _, p := range own {
		if _, ok := broken[p.ImportPath]; !ok {
			paths, dirs = append(paths, p.ImportPath), append(dirs, p.Dir)
		}
	}
	part.Packages(withTests(own))
	var names []string
	for _, p := range own {
		if _, ok := broken[p.ImportPath]; ok || withTests([]*load.Package{p}) == 0 {
			continue
		}
		part.Start(progress.Measure, p.ImportPath)
		b, err := runs.Build(ctx, tc, p, o, s.report.ModuleDir, work)
		if err != nil {
			trouble(err)
			continue
		}
		if b == nil {
			continue
		}
		names = append(names, b.Names...)
		results, err := b.Run(ctx, o, s.Cache)
		if err != nil {
			trouble(err)
			continue
		}
		in.Runs = append(in.Runs, out.took(results)...)
		part.Start(progress.Visit, p.ImportPath)
		visited, err := b.Visit(ctx, o, results, paths, dirs, s.Cache)
		if err != nil {
			trouble(err)
			continue
		}
		in.Visited = append(in.Visited, visited.Lines)
		out.compare(p, visited)
	}
	out.Trouble = append(out.Trouble, s.unmatched(names)...)
	ordered(in.Runs, s.report.ModulePath)
	ordered(out.Runs, s.report.ModulePath)
}
