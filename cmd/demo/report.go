// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
)

// write writes the verdict and then two tables: counts of lines with a column
// for each destination, and figures of the run, each with its meaning.
func (r *result) write(w io.Writer, s term.Style) {
	fmt.Fprintln(w)
	r.writeVerdict(w, s)
	fmt.Fprintln(w)
	r.writePlaces(w, s)
	fmt.Fprintln(w)
	r.writeRun(term.Table{W: w, S: s})
}

// writeVerdict writes whether the demo has passed, and if not, some of the
// faults.
func (r *result) writeVerdict(w io.Writer, s term.Style) {
	if r.verdict("") == nil {
		fmt.Fprintf(w, "%s  Each of %s logged lines came back once, in order, valid and true",
			s.Good("PASS"), term.Count(len(r.ledger.calls)))
		switch n := len(r.kills); n {
		case 0:
			fmt.Fprintln(w, ".")
		case 1:
			fmt.Fprintln(w, ",\n      although the service was killed with SIGKILL.")
		default:
			fmt.Fprintf(w, ",\n      although the service was killed with SIGKILL %d times.\n", n)
		}
		return
	}
	fmt.Fprintf(w, "%s  What came back is not what was logged:\n", s.Bad("FAIL"))
	for _, c := range r.places {
		for _, e := range c.examples {
			fmt.Fprintf(w, "      %s: %s\n", c.name, e)
		}
	}
}

// writePlaces writes the result of checking each destination.
func (r *result) writePlaces(w io.Writer, s term.Style) {
	fmt.Fprintln(w, s.Dim(fmt.Sprintf("%31s %11s", toFile, toTopic)))
	for _, row := range []struct {
		name, meaning string
		verdict       bool // the figures should be 0
		of            func(*check) int
	}{
		{"logged", "the log call returned", false, func(*check) int { return len(r.ledger.calls) }},
		{"delivered", "read back", false, func(c *check) int { return c.delivered - c.midCall }},
		{"cut off", "read back, call killed", false, func(c *check) int { return c.midCall }},
		{"dropped", "refused by the spool", true, func(*check) int { return r.ledger.dropped }},
		{"lost", "logged, but not read back", true, func(c *check) int { return c.lost }},
		{"duplicates", "read back twice", true, func(c *check) int { return c.duplicates }},
		{"out of order", "after a later line", true, func(c *check) int { return c.reordered }},
		{"invalid", "not a line of valid JSON", true, func(c *check) int { return c.invalid }},
		{"untrue", "not what the client saw", true, func(c *check) int { return c.untrue }},
	} {
		fmt.Fprint(w, "  "+s.Dim(fmt.Sprintf("%-17s", row.name)))
		for _, c := range r.places {
			style, n := s.Bold, row.of(c)
			if row.verdict && n == 0 {
				style = s.Good
			} else if row.verdict {
				style = s.Bad
			}
			fmt.Fprint(w, style(fmt.Sprintf(" %11s", term.Count(n))))
		}
		fmt.Fprintln(w, "  "+s.Dim(row.meaning))
	}
}

// writeRun writes figures of the requests, the slowest recovery and a log call.
func (r *result) writeRun(t term.Table) {
	p, file := r.ledger.plan, r.places[0]
	t.Row("requests", term.Count(p.requests),
		fmt.Sprintf("over %d connections, in %s", p.connections, round(r.took)))
	if cut := len(r.ledger.cut); cut > 0 {
		t.Row("without answer", term.Count(cut), "requests that were under way at a kill")
	}
	t.Row("requests/s", term.Count(int(float64(p.requests)/r.took.Seconds())),
		fmt.Sprintf("client, service, broker and disk share %d CPUs", runtime.GOMAXPROCS(0)))
	t.Row("bytes", term.Count(file.bytes), fmt.Sprintf("%d per line; %d files, rotated at 1 MiB",
		file.bytes/max(file.lines, 1), r.files))
	if n := len(r.kills); n > 0 {
		from := "from the kill to the first answer"
		if n > 1 {
			from += fmt.Sprintf(", slowest of %d", n)
		}
		t.Row("recovery", round(slices.Max(r.kills)), from)
	}
	t.Row("log call", r.call.String(),
		fmt.Sprintf("a line into the spool, fastest of %d rounds", rounds))
	t.Row("mallocs per line", strconv.FormatFloat(r.mallocs, 'f', -1, 64), "of the log call")
}

// round returns a time in milliseconds, to one decimal.
func round(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
