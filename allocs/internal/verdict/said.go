// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/roots"
)

// Outline has the sites that the compiler's text and the source show below a
// root on a release whose executables are not read.
type Outline struct {
	Said    []Said
	Lines   []roots.Place // lines that can be executed below the root, except cold ones
	Unknown string        // why nothing is known, or ""
}

// Said is an escape below a root.
type Said struct {
	Found
	Escape *compiler.Escape
}

// Unseen is the kind of a site that represents unexamined lines.
const Unseen heapcalls.Kind = "unseen"

// addSaid adds the sites that the compiler printed.
func (in *Input) addSaid(sites map[key]*Site, o Outline, r roots.Root) {
	for _, said := range o.Said {
		in.addFound(sites, said.Found, r)
		k, at := place(said.Stack, said.Kind, in.InModule)
		s := sites[k]
		if at < 0 || s == nil {
			continue
		}
		e := &s.Evidence
		e.Code, e.Said = false, true
		if e.Escape == nil {
			e.Escape = said.Escape
		}
		if known := len(e.Values); known == 0 || e.Values[known-1] != said.Escape.What {
			e.Values = append(e.Values, said.Escape.What)
		}
	}
}

// unseen returns a site for the first line below the root that no run has
// executed, or nil. On such a line growth and allocations of other packages are
// unknown, so the root must not look clean.
func (in *Input) unseen(o Outline, r roots.Root) *Site {
	s := &Site{Func: r.Func, File: r.File, Line: r.Line, Kind: Unseen, Verdict: Unknown,
		Reason: o.Unknown, Stack: []binary.Frame{{Func: r.Func, File: r.File, Line: r.Line}}}
	if o.Unknown != "" {
		return s
	}
	ran := r.Kind == roots.Benchmark && in.ran(r)
	for _, p := range o.Lines {
		if ran && strings.HasSuffix(p.File, "_test.go") {
			continue // coverage excludes test files, and this one was run
		}
		if !in.came(p) {
			s.File, s.Line = p.File, p.Line
			s.Stack = append([]binary.Frame{{Func: r.Func, File: p.File, Line: p.Line}}, s.Stack...)
			s.Reason = "no run came by this line, and without the executable -m=2 does not show everything"
			return s
		}
	}
	return nil
}

// came reports whether a run executed the line.
func (in *Input) came(p roots.Place) bool {
	for _, v := range in.Visited {
		if v[p.File][p.Line] {
			return true
		}
	}
	return false
}
