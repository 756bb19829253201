// SPDX-License-Identifier: Apache-2.0

// Package baseline compares a run with what was accepted before, and decides
// whether it got worse.
//
// An entry is a root and a site, by function and source text and not by line,
// so that code can move. It is kept for each line of Go releases, because the
// answers differ between them.
package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Name is the file in the directory of the module.
const Name = "allocs.baseline.json"

// File is what is committed.
type File struct {
	Format  int                                              `json:"format"`
	Accepts map[string]map[string]map[string]verdict.Verdict `json:"accepts"` // toolchain line → root → site
}

// Change is one difference.
type Change struct {
	Kind      string `json:"kind"` // worse, new, better or gone
	Toolchain string `json:"toolchain"`
	Root      string `json:"root"`
	Site      string `json:"site"`
	Text      string `json:"text"`
	Where     string `json:"where"`
}

// Outcome is the result of a comparison.
type Outcome struct {
	Baseline bool     `json:"baseline"` // whether there is one
	Worse    []Change `json:"worse"`
	Better   []Change `json:"better"`
	Notes    []Change `json:"notes"`
}

// ErrMissing says that the baseline has nothing about a toolchain.
var ErrMissing = errors.New("the baseline has nothing about this toolchain")

// Load reads a baseline; nil without an error means that there is none.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := new(File)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Format != 1 {
		return nil, fmt.Errorf("%s: format %d is not known", path, f.Format)
	}
	return f, nil
}

// counted tells whether a gate can fail on a verdict: on what always allocates,
// and when it is strict on what is not known. A baseline keeps only that. A new
// place that grows, is cold or is free is no change for the worse.
func counted(v verdict.Verdict, strict bool) bool {
	return v == verdict.Always || strict && v == verdict.Unknown
}

// Of makes the baseline that accepts all of a document, as far as a strict or
// an ordinary gate can fail on it.
func Of(d *findings.Document, strict bool) *File {
	f := &File{Format: 1, Accepts: map[string]map[string]map[string]verdict.Verdict{}}
	for t, tc := range d.Toolchains {
		all := map[string]map[string]verdict.Verdict{}
		for _, r := range d.Roots {
			for _, s := range r.Sites {
				v := s.Answers[t].Verdict
				if !counted(v, strict) {
					continue
				}
				if all[r.ID] == nil {
					all[r.ID] = map[string]verdict.Verdict{}
				}
				all[r.ID][s.Key] = v
			}
		}
		f.Accepts[tc.Line] = all
	}
	return f
}

// Write stores the baseline, sorted, so that its own changes are readable.
func (f *File) Write(path string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Compare tells what changed. Without a baseline only the annotated roots
// count: they must keep to what they allow. strict also counts what is unknown.
func Compare(f *File, d *findings.Document, strict bool) (*Outcome, error) {
	o := &Outcome{Baseline: f != nil}
	for t, tc := range d.Toolchains {
		var accepts map[string]map[string]verdict.Verdict
		if f != nil {
			var ok bool
			if accepts, ok = f.Accepts[tc.Line]; !ok {
				return nil, fmt.Errorf("%w: %s (--accept adds it)", ErrMissing, tc.Line)
			}
		}
		seen := map[string]map[string]bool{}
		for _, r := range d.Roots {
			seen[r.ID] = map[string]bool{}
			o.root(f != nil, accepts[r.ID], r, t, tc.Line, strict, seen[r.ID])
		}
		o.gone(accepts, seen, looked(d), tc.Line)
	}
	return o, nil
}

// root compares the sites of one root on one toolchain.
func (o *Outcome) root(have bool, accepts map[string]verdict.Verdict, r *findings.Root, t int, line string, strict bool, seen map[string]bool) {
	over := r.Allowed != nil && r.Allocs[t] > *r.Allowed
	for _, s := range r.Sites {
		now, before := s.Answers[t].Verdict, verdict.None
		if v, ok := accepts[s.Key]; ok {
			before = v
			seen[s.Key] = true
		}
		c := Change{Toolchain: line, Root: r.ID, Site: s.Key, Where: fmt.Sprintf("%s:%d  %s", s.File, s.Line, s.Source)}
		c.Text = fmt.Sprintf("%s was %s, is %s: %s", r.ID, before, now, s.Reason)
		switch {
		case now.Rank() < before.Rank():
			c.Kind = "better"
			o.Better = append(o.Better, c)
		case now == before || !counted(now, strict):
		case have:
			// A log call that is new is no regression of one that was there,
			// but it is one more that allocates.
			c.Kind = "worse"
			if before == verdict.None {
				c.Kind = "new"
			}
			o.Worse = append(o.Worse, c)
		case over, strict && r.Allowed != nil:
			c.Text = fmt.Sprintf("%s allows %d and has %d: %s", r.ID, *r.Allowed, r.Allocs[t], s.Reason)
			c.Kind = "worse"
			o.Worse = append(o.Worse, c)
		}
	}
}

// looked returns whether a root is of a package that the run was about: the
// rest of the baseline is neither better nor worse.
func looked(d *findings.Document) func(root string) bool {
	packages := map[string]bool{}
	for _, r := range d.Roots {
		packages[r.Package] = true
	}
	return func(root string) bool {
		for p := range packages {
			if rest, ok := strings.CutPrefix(root, p+"."); ok && !strings.Contains(strings.SplitN(rest, " ", 2)[0], "/") {
				return true
			}
		}
		return false
	}
}

// gone reports what the baseline accepts and nobody needs any more.
func (o *Outcome) gone(accepts map[string]map[string]verdict.Verdict, seen map[string]map[string]bool, looked func(root string) bool, line string) {
	for root, sites := range accepts {
		if !looked(root) {
			continue
		}
		for site, v := range sites {
			if !seen[root][site] {
				o.Better = append(o.Better, Change{Kind: "gone", Toolchain: line, Root: root, Site: site, Text: fmt.Sprintf("%s no longer has: %s (%s)", root, site, v)})
			}
		}
	}
	sort.SliceStable(o.Better, func(i, j int) bool { return o.Better[i].Text < o.Better[j].Text })
}

// Ratchet returns the baseline with what got better taken over, and nothing
// that got worse.
func (f *File) Ratchet(d *findings.Document, strict bool) *File {
	out := Of(d, strict)
	for line, roots := range out.Accepts {
		for root, sites := range roots {
			for site, now := range sites {
				before, ok := f.Accepts[line][root][site]
				if !ok {
					delete(sites, site)
				} else if before.Rank() < now.Rank() {
					sites[site] = before
				}
			}
			if len(sites) == 0 {
				delete(roots, root)
			}
		}
	}
	for line, roots := range f.Accepts {
		if _, ok := out.Accepts[line]; !ok {
			out.Accepts[line] = roots // this run was not about it
		}
	}
	return out
}

// With returns the baseline with the toolchains of another put into it.
func (f *File) With(other *File) *File {
	if f == nil {
		return other
	}
	for line, roots := range other.Accepts {
		f.Accepts[line] = roots
	}
	return f
}
