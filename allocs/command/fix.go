// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/fixes"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// fix rewrites what is known to have a better form, looks again, and keeps a
// file's new form only if the module then allocates less in it. It returns the
// report of what is in place at the end.
func (f *flags) fix(ctx context.Context, w io.Writer, before *check.Report, d *findings.Document) (*check.Report, error) {
	found := map[fixes.Place]bool{}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			if s.Worst() == verdict.Always {
				found[fixes.Place{File: filepath.Join(d.Dir, filepath.FromSlash(s.File)), Line: s.Line}] = true
			}
		}
	}
	edits, err := fixes.Find(ctx, f.Dir, f.Patterns, func(p fixes.Place) bool { return found[p] })
	if err != nil || len(edits) == 0 {
		if err == nil {
			fmt.Fprintln(w, "nothing that can be rewritten safely")
		}
		return before, err
	}
	if err := fixes.Write(edits); err != nil {
		return nil, err
	}
	after, err := f.check(ctx, w)
	if err != nil {
		// What does not compile or cannot be judged is not left behind.
		if undo := fixes.Undo(edits); undo != nil {
			return nil, undo
		}
		return nil, fmt.Errorf("the fixes were taken back: %w", err)
	}
	was, is := always(d), always(findings.New(after))
	var useless []fixes.Edit
	for _, e := range edits {
		rel, err := filepath.Rel(d.Dir, e.File)
		if err != nil {
			return nil, err
		}
		name := filepath.ToSlash(rel)
		if is[name] >= was[name] {
			useless = append(useless, e)
			fmt.Fprintf(w, "taken back: %s, %d lines: it did not help\n", name, len(e.Lines))
			continue
		}
		fmt.Fprintf(w, "rewritten:  %s, %d lines: %d places that always allocate, %d before\n", name, len(e.Lines), is[name], was[name])
	}
	if len(useless) == 0 {
		return after, nil
	}
	if err := fixes.Undo(useless); err != nil {
		return nil, err
	}
	return f.check(ctx, w)
}

// always counts the sites that always allocate, by file. A site below several
// roots counts once.
func always(d *findings.Document) map[string]int {
	seen := map[string]map[string]bool{}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			if s.Worst() == verdict.Always {
				if seen[s.File] == nil {
					seen[s.File] = map[string]bool{}
				}
				seen[s.File][s.Key] = true
			}
		}
	}
	out := map[string]int{}
	for file, keys := range seen {
		out[file] = len(keys)
	}
	return out
}
