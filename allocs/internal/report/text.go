// SPDX-License-Identifier: Apache-2.0

// Package report shows what was found: as a tree in a terminal, and as JSON.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Text writes the tree.
func Text(w io.Writer, r *check.Report) error {
	for _, t := range r.Toolchains {
		fmt.Fprintf(w, "%s (%s)\n", t.Toolchain, t.Took.Round(1e6))
		for _, res := range t.Results {
			rel, _ := filepath.Rel(r.ModuleDir, res.Root.File)
			fmt.Fprintf(w, "%s  %s:%d %s absent=%v dyn=%d runs=%s\n", res.Root.ID, rel, res.Root.Line, res.Root.Kind, res.Absent, len(res.Dynamic), strings.Join(res.Runs, ","))
			for _, s := range res.Sites {
				if s.Verdict == verdict.None {
					continue
				}
				rel, _ := filepath.Rel(r.ModuleDir, s.File)
				fmt.Fprintf(w, "    %-7s %s:%d %s %s %s — %s", s.Verdict, rel, s.Line, s.Kind, s.Callee, s.Inner, s.Reason)
				if s.Evidence.Escape != nil {
					fmt.Fprintf(w, " [%s]", s.Evidence.Escape.What)
				}
				fmt.Fprintln(w, " ", s.Conflict)
			}
		}
		for _, x := range t.Trouble {
			fmt.Fprintln(w, "trouble:", x)
		}
	}
	return nil
}
