// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
)

// ErrEvidence means that evidence is missing that existed when the baseline was
// accepted, so there is no verdict.
var ErrEvidence = errors.New("evidence is missing")

// Err returns the error of an outcome with missing evidence, or nil.
func (o *Outcome) Err() error {
	if len(o.Missing) == 0 {
		return nil
	}
	var b strings.Builder
	for _, c := range o.Missing {
		fmt.Fprintf(&b, "\n  %s: %s", c.Toolchain, strings.ReplaceAll(c.Text, "\n", "\n    "))
		if c.Where != "" {
			fmt.Fprintf(&b, "\n    %s", c.Where)
		}
	}
	return fmt.Errorf("%w that there was when the baseline was accepted (--accept accepts that):%s",
		ErrEvidence, b.String())
}

func (c *comparison) missing(root, text string) {
	c.Missing = append(c.Missing, c.change("missing", root, text))
}

// runs reports the benchmarks and tests that were measured before and are not
// now.
func (c *comparison) runs() {
	measured, failed := map[string]bool{}, map[string]string{}
	for _, l := range c.d.Toolchains[c.t].Leaves {
		if l.Failed == "" {
			measured[l.Package+" "+l.Name] = true
		} else {
			failed[l.Package+" "+l.Name] = l.Failed
		}
	}
	for _, p := range slices.Sorted(maps.Keys(c.accepted.Runs)) {
		if !c.within(p) {
			continue
		}
		for _, run := range c.accepted.Runs[p] {
			if !measured[p+" "+run] {
				c.missing("",
					p+"."+run+" was measured, and is not any more: "+failure(p, run, failed))
			}
		}
	}
}

// failure returns why a run was not measured: its own failure, or that of the
// benchmark around it.
func failure(pkg, run string, failed map[string]string) string {
	for name := run; ; {
		if why, ok := failed[pkg+" "+name]; ok {
			if name != run {
				why = name + ": " + why
			}
			return why
		}
		i := strings.LastIndex(name, "/")
		if i < 0 {
			return "it is gone, or was not asked for"
		}
		name = name[:i]
	}
}

// waivers reports new waivers: they hide the allocations below them.
func (c *comparison) waivers() {
	for _, p := range slices.Sorted(maps.Keys(c.d.Scope.Waivers)) {
		for _, w := range c.d.Scope.Waivers[p] {
			if !slices.Contains(c.accepted.Waivers[p], w) {
				x := c.change("new", "", "a waiver that the baseline does not have: "+p)
				x.Where = w
				c.Worse = append(c.Worse, x)
			}
		}
	}
}

// cutOff refuses to judge by counts that may lack allocations far below the
// root.
func (c *comparison) cutOff() {
	judged := slices.ContainsFunc(c.d.Roots, func(r *findings.Root) bool {
		return r.Allowed != nil || c.accepted.Roots[r.ID] != nil
	})
	for _, l := range c.d.Toolchains[c.t].Leaves {
		if judged && l.Cut > 0 {
			c.missing("", fmt.Sprintf(
				"%s.%s cannot be counted exactly: %.4g allocations per operation have a deeper "+
					"stack than this release notes", l.Package, l.Name, l.Cut))
		}
	}
}
