// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/fixes"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// fix rewrites what is known to have a better form, looks again, and keeps a
// function's new form only if it then allocates less. It returns the report of
// what is in place at the end.
func (f *flags) fix(ctx context.Context, w io.Writer, before *check.Report, d *findings.Document) (*check.Report, error) {
	found := map[fixes.Place]place{}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			if s.Worst() == verdict.Always {
				found[fixes.Place{File: filepath.Join(d.Dir, filepath.FromSlash(s.File)), Line: s.Line}] = place{s.File, s.Func}
			}
		}
	}
	all, err := fixes.Find(ctx, f.Dir, f.Patterns, func(p fixes.Place) bool { _, ok := found[p]; return ok })
	if err != nil || len(all) == 0 {
		if err == nil {
			fmt.Fprintln(w, "nothing that can be rewritten safely")
		}
		return before, err
	}
	edits, after, err := f.apply(ctx, all)
	if err != nil {
		return nil, err
	}
	was, is := always(d), always(findings.New(after))
	var helped []fixes.Fix
	for _, x := range all {
		at := where(x, found)
		better := is[at] < was[at]-0.5
		if better {
			helped = append(helped, x)
		}
		fmt.Fprintf(w, "%s %s:%d: %s; %s allocates %s times, %s before\n", map[bool]string{true: "rewritten: ", false: "taken back:"}[better],
			at.file, x.Line, x.Message, at.function, number(is[at]), number(was[at]))
	}
	if len(helped) == len(all) {
		return after, nil
	}
	if err := fixes.Undo(edits); err != nil {
		return nil, err
	}
	if len(helped) == 0 {
		return before, nil
	}
	_, after, err = f.apply(ctx, helped)
	return after, err
}

// apply writes the fixes and looks again. What does not compile or cannot be
// judged is not left behind.
func (f *flags) apply(ctx context.Context, list []fixes.Fix) ([]fixes.Edit, *check.Report, error) {
	edits, err := fixes.Apply(list)
	if err != nil {
		return nil, nil, err
	}
	if err := fixes.Write(edits); err != nil {
		return nil, nil, errors.Join(err, fixes.Undo(edits))
	}
	after, err := check.Run(ctx, f.Options)
	if err != nil {
		if undo := fixes.Undo(edits); undo != nil {
			return nil, nil, undo
		}
		return nil, nil, fmt.Errorf("the fixes were taken back: %w", err)
	}
	return edits, after, nil
}

// place is a function in a file of the module.
type place struct{ file, function string }

// where is the function that a fix is for: that of the first line of it that
// allocates.
func where(x fixes.Fix, found map[fixes.Place]place) place {
	for _, line := range x.Lines {
		if at, ok := found[fixes.Place{File: x.File, Line: line}]; ok {
			return at
		}
	}
	return place{}
}

// number is a count without digits that say nothing.
func number(n float64) string { return strconv.FormatFloat(n, 'g', 4, 64) }

// always counts what the sites that always allocate allocate, by function: as
// measured, and one where nothing was. A site below several roots counts once.
func always(d *findings.Document) map[place]float64 {
	seen := map[place]map[string]bool{}
	out := map[place]float64{}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			at := place{s.File, s.Func}
			if s.Worst() != verdict.Always || seen[at][s.Key] {
				continue
			}
			if seen[at] == nil {
				seen[at] = map[string]bool{}
			}
			seen[at][s.Key] = true
			out[at] += max(1, s.PerOp())
		}
	}
	return out
}
