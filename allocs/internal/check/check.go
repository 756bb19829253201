// SPDX-License-Identifier: Apache-2.0

// Package check runs the stages one after the other: roots, compiler,
// executables, runs, verdicts; for every requested toolchain. Reports and the
// gate use its result.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/program"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Options select the packages and how to check them.
type Options struct {
	Dir      string
	Patterns []string
	Releases []string // releases of Go; none means the one in use
	Roots    []string // additional functions
	LogCalls bool
	Strict   bool              // what is possible in a function with a limit leaves it unproven
	Bench    *regexp.Regexp    // nil runs no benchmarks
	Cache    string            // directory for results of runs; "" keeps none
	Progress func(step string) // called when a step begins; may be nil
}

// step reports the beginning of a step.
func (o *Options) step(text string) {
	if o.Progress != nil {
		o.Progress(text)
	}
}

// Report is the outcome for all toolchains.
type Report struct {
	ModuleDir  string   // directory of go.mod or go.work
	ModulePath string   // in a workspace: the common prefix of its module paths
	Modules    []string // the modules of a workspace
	Holds      func(file string) bool
	Strict     bool // of the options
	Scope      Scope
	Roots      *roots.Set
	Toolchains []*Toolchain
	Broken     map[string]string // the packages that do not build on some toolchain, and why
}

// Toolchain is the outcome for one toolchain.
type Toolchain struct {
	Toolchain *toolchain.Toolchain
	Results   []verdict.Result
	Runs      []runs.Result     // includes the runs that failed
	Leaves    [][]*verdict.Site // the lines that each of the runs allocates on
	Trouble   []string          // describes evidence that could not be obtained
	Took      time.Duration
}

// ErrNothing indicates that there is nothing to check.
var ErrNothing = errors.New("no benchmarks, no log calls, no //alloc: comments and no --root")

// Run runs all stages. An error means that there is no reliable verdict. A
// package that does not build has none; the others have theirs.
func Run(ctx context.Context, o Options) (*Report, error) {
	work, err := os.MkdirTemp("", "allocs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	tcs, err := toolchains(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, tc := range tcs {
		tc.KeepIn(work)
	}
	o.step("reading the source")
	home, err := load.Find(ctx, tcs[0], o.Dir)
	if err != nil {
		return nil, err
	}
	o.Patterns = home.Patterns(o.Patterns)
	r := &Report{ModuleDir: home.Dir, ModulePath: home.Name(),
		Holds: home.Holds, Strict: o.Strict, Broken: map[string]string{}}
	if len(home.Modules) > 1 {
		for _, m := range home.Modules {
			r.Modules = append(r.Modules, m.Path)
		}
	}
	s := &session{Options: o, work: work, report: r, home: home}
	if err := s.list(ctx, tcs); err != nil {
		return nil, err
	}
	for i, tc := range tcs {
		began := time.Now()
		t, err := s.toolchain(ctx, tc, s.near[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tc, err)
		}
		t.Took = time.Since(began)
		for _, p := range slices.Sorted(maps.Keys(r.Broken)) {
			t.Trouble = append(t.Trouble, "not checked: "+p+" does not build: "+r.Broken[p])
		}
		r.Toolchains = append(r.Toolchains, t)
	}
	measured := func(t *Toolchain) bool { return len(t.Runs) > 0 }
	if len(r.Roots.Roots) == 0 && !slices.ContainsFunc(r.Toolchains, measured) {
		return nil, ErrNothing
	}
	return r, nil
}

func toolchains(ctx context.Context, o Options) ([]*toolchain.Toolchain, error) {
	releases := o.Releases
	if len(releases) == 0 {
		releases = []string{""}
	}
	var out []*toolchain.Toolchain
	for _, r := range releases {
		o.step(strings.TrimSpace("finding Go " + r))
		tc, err := toolchain.Find(ctx, o.Dir, strings.TrimSpace(r))
		if err != nil {
			return nil, err
		}
		out = append(out, tc)
	}
	return out, nil
}

// session is one run over several toolchains.
type session struct {
	Options
	work   string
	report *Report
	home   *load.Home
	near   [][]*load.Package // the packages of each toolchain, with those that they import
	src    *load.Source
}

// toolchain gathers the evidence of one toolchain and decides.
func (s *session) toolchain(
	ctx context.Context, tc *toolchain.Toolchain, near []*load.Package,
) (*Toolchain, error) {
	work := filepath.Join(s.work, tc.Version)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	step := func(text string) { s.step(tc.String() + "  " + text) }
	own := slices.DeleteFunc(slices.Clone(near), func(p *load.Package) bool { return p.DepOnly })
	in, err := s.static(ctx, tc, own, near, work)
	if err != nil {
		return nil, err
	}
	out := &Toolchain{Toolchain: tc}
	if err := s.measure(ctx, tc, own, work, in, out); err != nil {
		return nil, err
	}
	step("deciding")
	s.decide(in, out)
	return out, nil
}

// static returns the evidence of the compiler and the code.
func (s *session) static(
	ctx context.Context, tc *toolchain.Toolchain, own, near []*load.Package, work string,
) (*verdict.Input, error) {
	s.step(tc.String() + "  asking the compiler")
	b, err := program.Prepare(own, s.src, work)
	if err != nil {
		return nil, err
	}
	c := &compiler.Collector{Toolchain: tc, Work: work, Dir: s.report.ModuleDir, Overlay: b.Overlay}
	escapes, err := c.Collect(ctx, append(slices.Clip(near), b.Canary))
	if err != nil {
		return nil, err
	}
	s.step(tc.String() + "  linking")
	in := &verdict.Input{
		Escapes: compiler.NewIndex(escapes), InModule: s.home.Holds, Waived: s.waived,
	}
	for i, target := range b.Targets {
		exe := filepath.Join(work, fmt.Sprint("program-", i))
		if err := b.Link(ctx, tc, s.report.ModuleDir, target, exe); err != nil {
			return nil, err
		}
		p, err := binary.Open(exe, target)
		if err != nil {
			return nil, err
		}
		in.Programs = append(in.Programs, p)
	}
	canary := *in // what a copy has found out is about the evidence until now
	return in, judgeCanary(&canary, b.Canary.ImportPath)
}

// decide computes the lines of every leaf, and the result of every root.
func (s *session) decide(in *verdict.Input, out *Toolchain) {
	for i := range out.Runs {
		out.Leaves = append(out.Leaves, in.Leaf(&out.Runs[i]))
	}
	for _, r := range s.report.Roots.Roots {
		out.Results = append(out.Results, in.Root(r))
	}
}

// list finds the packages that build on all toolchains, and the roots in them.
// Packages of the module that they import are listed, too, because the sites in
// these need reasons.
func (s *session) list(ctx context.Context, tcs []*toolchain.Toolchain) (err error) {
	for _, tc := range tcs {
		s.step(tc.String() + "  compiling")
		near, broken, err := load.List(ctx, tc, s.Dir, s.Patterns)
		if err != nil {
			return err
		}
		s.near = append(s.near, near)
		maps.Copy(s.report.Broken, broken)
	}
	s.scope()
	intact := slices.Sorted(maps.Keys(s.report.Scope.Packages))
	if len(intact) == 0 {
		return errors.New("no package builds on all of the releases")
	}
	if len(s.home.Modules) == 0 {
		s.report.ModulePath = s.near[0][0].Module.Path
	}
	patterns := s.Patterns
	if len(s.report.Broken) > 0 {
		patterns = intact
	}
	if s.src, err = load.Typed(ctx, s.Dir, patterns, "GOTMPDIR="+s.work); err != nil {
		return err
	}
	s.report.Roots, err = roots.Find(s.src, s.Options.Roots, s.LogCalls)
	return err
}

func (s *session) waived(f binary.Frame) bool {
	_, ok := s.report.Roots.Waivers[roots.Place{File: f.File, Line: f.Line}]
	return ok || s.report.Roots.Cold[binary.Normalise(f.Func)]
}
