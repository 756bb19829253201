// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/cmd/nib/term"
)

// A comparison is the result of --against.
type comparison struct {
	old                     *logs.Summary
	appeared, gone, changed []logs.Difference
}

// cutRange returns the times of FROM..UNTIL, and false for the name of a file.
func cutRange(against string) (from, until string, ok bool) {
	from, until, ok = strings.Cut(against, "..")
	if _, err := os.Stat(against); err == nil || !ok {
		return "", "", false
	}
	return from, until, true
}

// compare summarizes what --against denotes, a file or a range of time in the
// same logs, and compares the messages of sum with it.
func (o *statFlags) compare(
	cmd *cobra.Command, args []string, s selectionFlags, sum *logs.Summary,
) (*comparison, error) {
	from, until, isRange := cutRange(o.against)
	if !isRange {
		args = []string{o.against}
	} else if len(args) == 0 || slices.Contains(args, "-") {
		return nil, errors.New("--against: standard input cannot be read twice")
	}
	s.since, s.until = from, until
	s.silent = true // what is left out of the other lines is not reported
	sel, err := s.selection(time.Now())
	if err != nil {
		return nil, each("--against", err)
	}
	sources, err := logs.Find(args, nil, false, time.Now())
	if err != nil {
		return nil, each("--against", err)
	}
	c := new(comparison)
	if c.old, err = logs.Summarize(cmd.Context(), sources, sel, nil, nil); err != nil {
		return nil, each("--against", err)
	}
	c.appeared, c.gone, c.changed = sum.Compare(c.old)
	return c, nil
}

// each names the flag in each of the errors that are joined.
func each(flag string, err error) error {
	var list []error
	for _, e := range parts(err) {
		list = append(list, fmt.Errorf("%s: %w", flag, e))
	}
	return errors.Join(list...)
}

// write writes the comparison for people.
func (c *comparison) write(w io.Writer, s term.Style, name string, top int) {
	fmt.Fprintf(w, "\n%s %s: %s lines\n", s.Bold("against"), term.Line(name),
		term.Count(c.old.Counts.Matched))
	for _, part := range []struct {
		title string
		list  []logs.Difference
	}{{"new", c.appeared}, {"gone", c.gone}, {"more or less frequent", c.changed}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s, lines a minute before and now\n", s.Bold(part.title))
		for _, d := range part.list[:min(top, len(part.list))] {
			fmt.Fprintf(w, "  %10.4g %10.4g  %s\n", d.Other, d.Rate, term.Line(d.Message))
		}
		writeMore(w, len(part.list)-top)
	}
}

// object returns the comparison for programs, with a line of each message.
func (c *comparison) object(top int, sample func(string) string) map[string]any {
	list := func(of []logs.Difference) map[string]any {
		shown := []map[string]any{}
		for _, d := range of[:min(top, len(of))] {
			shown = append(shown, map[string]any{
				"message": d.Message, "lines": d.Lines, "lines_before": d.Was,
				"per_minute": d.Rate, "per_minute_before": d.Other, "sample": sample(d.Sample),
			})
		}
		return map[string]any{"messages": shown, "left_out": len(of) - len(shown)}
	}
	all := map[string]any{
		"lines": c.old.Counts.Lines, "selected": c.old.Counts.Matched,
		"new": list(c.appeared), "gone": list(c.gone), "changed": list(c.changed),
	}
	if !c.old.First.IsZero() {
		all["first"], all["last"] = c.old.First.UTC(), c.old.Last.UTC()
	}
	return all
}
