// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// perOperations is the number of operations that the values of the profile
// cover: pprof has only integers, and a tenth of an allocation per operation is
// worth showing.
const perOperations = 1000

// The values of a sample, in this order.
const (
	valueAllocs = iota
	valueBytes
	valueSites
)

// Pprof writes the merged evidence as a profile for go tool pprof: a sample for
// each root, site, toolchain and chain of calls from the root to the
// allocation. Its values are:
//
//   - allocs: allocations for 1,000 operations, by the run that showed most of
//     them, or by the calls in the code when the verdict is always and no run
//     executed it; 0 for a site that grows, is cold or is not known.
//   - bytes: the same in bytes; 0 where nothing was measured.
//   - sites: 1 for the first chain of a site, so that sites without a count can
//     be looked at too.
//
// A site below several roots is in several samples: pick a root, and with
// several toolchains one of them, by -tagfocus. The labels are root, go,
// verdict, pattern, kind, and evidence (the run's name, or "code"). The same
// document gives the same profile.
func Pprof(w io.Writer, d *findings.Document) error {
	b := &pprofBuilder{d: d, functions: map[pprofFunction]*profile.Function{}, locations: map[string]*profile.Location{}}
	b.p = &profile.Profile{
		SampleType: []*profile.ValueType{
			valueAllocs: {Type: "allocs", Unit: "count"},
			valueBytes:  {Type: "bytes", Unit: "bytes"},
			valueSites:  {Type: "sites", Unit: "count"},
		},
		DefaultSampleType: "allocs",
		PeriodType:        &profile.ValueType{Type: "operations", Unit: "count"},
		Period:            perOperations,
		Comments:          []string{"allocs and bytes are for 1,000 operations; a site below several roots is in several samples"},
		// The mapping covers every location: without it, pprof looks for an
		// executable.
		Mapping: []*profile.Mapping{{ID: 1, Limit: math.MaxInt64, File: d.Module, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}},
	}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			for i := range s.Answers {
				b.sample(r, s, i)
			}
		}
	}
	if err := b.p.CheckValid(); err != nil {
		return err
	}
	return b.p.Write(w)
}

// pprofBuilder holds the parts of the profile that exist already.
type pprofBuilder struct {
	d         *findings.Document
	p         *profile.Profile
	functions map[pprofFunction]*profile.Function
	locations map[string]*profile.Location
}

type pprofFunction struct{ name, file string }

// sample adds the answer of a toolchain about a site.
func (b *pprofBuilder) sample(r *findings.Root, s *findings.Site, toolchain int) {
	a := &s.Answers[toolchain]
	if a.Verdict == verdict.None {
		return
	}
	labels := map[string][]string{
		"root": {r.ID}, "go": {b.d.Toolchains[toolchain].Name}, "verdict": {string(a.Verdict)}, "kind": {s.Kind}, "evidence": {"code"},
	}
	if s.Pattern != "" {
		labels["pattern"] = []string{s.Pattern}
	}
	for i, x := range counted(a) {
		if x.Name != "" {
			labels["evidence"] = []string{x.Name}
		}
		value := []int64{valueAllocs: scaled(x.PerOp), valueBytes: scaled(x.Bytes), valueSites: 0}
		if i == 0 {
			value[valueSites] = 1
		}
		b.p.Sample = append(b.p.Sample, &profile.Sample{Location: b.stack(x.Chain, s), Value: value, Label: labels})
	}
}

// counted returns the counts of the run that allocates most often, by stack;
// without a run, those of the code that are certain.
func counted(a *findings.Answer) []findings.Stack {
	e := a.Evidence
	if e == nil || len(e.Runs) == 0 {
		x := findings.Stack{Chain: a.Chain}
		if e != nil && a.Verdict == verdict.Always {
			x.PerOp = float64(max(1, e.Calls))
		}
		return []findings.Stack{x}
	}
	best := e.Runs[0]
	for _, run := range e.Runs {
		if run.PerOp > best.PerOp {
			best = run
		}
	}
	var out []findings.Stack
	for _, x := range e.Stacks {
		if x.Name == best.Name {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b findings.Stack) int {
		return cmp.Or(cmp.Compare(b.PerOp, a.PerOp), strings.Compare(fmt.Sprint(a.Chain), fmt.Sprint(b.Chain)))
	})
	if len(out) == 0 {
		out = []findings.Stack{{Run: best, Chain: a.Chain}}
	}
	return out
}

func scaled(x float64) int64 { return int64(math.Round(x * perOperations)) }

// stack turns a chain, which has the root first, into locations, which have
// the allocation first. Functions that are inlined share the location of the
// one whose code they are in.
func (b *pprofBuilder) stack(chain []findings.Frame, s *findings.Site) []*profile.Location {
	if len(chain) == 0 {
		chain = []findings.Frame{{Func: s.Func, File: s.File, Line: s.Line}}
	}
	var out []*profile.Location
	for end := len(chain); end > 0; {
		start := end - 1
		for start > 0 && chain[start].Inlined {
			start--
		}
		out = append(out, b.location(chain[start:end]))
		end = start
	}
	return out
}

// location returns the place of a frame and the calls that are inlined there.
func (b *pprofBuilder) location(frames []findings.Frame) *profile.Location {
	key := ""
	var lines []profile.Line
	for i := len(frames) - 1; i >= 0; i-- {
		f := b.function(frames[i])
		lines = append(lines, profile.Line{Function: f, Line: int64(frames[i].Line)})
		key += fmt.Sprintf("%d:%d ", f.ID, frames[i].Line)
	}
	if l := b.locations[key]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Mapping: b.p.Mapping[0], Line: lines}
	// pprof distinguishes locations by their address, too.
	l.Address = l.ID
	b.locations[key] = l
	b.p.Location = append(b.p.Location, l)
	return l
}

// function returns the function of a frame. Files of the module get their full
// name back, as pprof opens them to list the source.
func (b *pprofBuilder) function(frame findings.Frame) *profile.Function {
	file := frame.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(b.d.Dir, filepath.FromSlash(file))
	}
	key := pprofFunction{frame.Func, file}
	if f := b.functions[key]; f != nil {
		return f
	}
	f := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: frame.Func, SystemName: frame.Func, Filename: file}
	b.functions[key] = f
	b.p.Function = append(b.p.Function, f)
	return f
}
