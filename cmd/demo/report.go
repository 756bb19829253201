// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
)

// writeReport writes the verdict and then two tables: counts of lines with a
// column for each destination, and figures of the run, each with its meaning.
func writeReport(w io.Writer, s term.Style, r result) {
	t := table{term.Table{W: w, S: s}, r.places}
	fmt.Fprintln(w)
	r.writeVerdict(w, s)
	fmt.Fprintln(w)
	r.writePlaces(t)
	fmt.Fprintln(w)
	r.writeLoad(t)
	fmt.Fprintln(w)
	r.writeCost(t)
}

// writeVerdict writes whether the demo has passed, and if not, some of the
// faults.
func (r *result) writeVerdict(w io.Writer, s term.Style) {
	if r.ok() {
		fmt.Fprintf(w, "%s  Each of %s logged lines came back once, in order, valid and true", s.Good("PASS"), term.Count(r.ledger.logged))
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
	figure := func(n uint64, what string) {
		if n > 0 {
			fmt.Fprintf(w, "      %s: %s\n", what, term.Count(n))
		}
	}
	figure(uint64(r.ledger.dropped), "refused by the spool")
	for _, p := range r.places {
		figure(r.spooled[p.name], p.name+": still in the spool")
		figure(r.refused[p.name], p.name+": refused")
		if p.check == nil {
			continue
		}
		for _, e := range p.check.examples {
			fmt.Fprintf(w, "      %s: %s\n", p.name, e)
		}
	}
}

// writeLoad writes figures of requests and of the kill.
func (r *result) writeLoad(t table) {
	over := fmt.Sprintf("over %d connections, in %s", r.plan.connections, round(r.took))
	if r.dialled > r.plan.connections && len(r.kills) == 0 { // a dying process may still accept connections
		over += fmt.Sprintf("; dialled %d times", r.dialled)
	}
	t.Row("requests", term.Count(r.plan.requests), over)
	t.Row("", "", "1 in 97 logs a second line")
	if cut := r.ledger.cutOff(); cut > 0 {
		t.Row("without answer", term.Count(cut), "requests that were under way at a kill")
	}
	t.Row("requests/s", term.Count(int(float64(r.plan.requests)/r.took.Seconds())),
		fmt.Sprintf("client, service%s share %d CPUs", brokerToo(r.places), runtime.GOMAXPROCS(0)))
	file := r.places[0].check
	t.Row("bytes", term.Count(file.bytes), fmt.Sprintf("%d per line; %d files, rotated at 1 MiB", file.bytes/int64(max(file.lines, 1)), len(r.files)))
	r.writeRecovery(t)
}

// writeCost writes the cost of logging.
func (r *result) writeCost(t table) {
	t.Row("log call", nanos(r.cost.spooled.ns), fmt.Sprintf("a line into the spool; %s to encode it", nanos(r.cost.encoded.ns)))
	t.Row("with write(2)", nanos(r.cost.written.ns), "the same line to a file, with a system call")
	t.Row("mallocs per line", exact(r.cost.spooled.mallocs), "of the log call")
	t.Row("middleware", nanos(r.cost.middleware.ns), fmt.Sprintf("all of nibhttp for a request; %.2f mallocs", r.cost.middleware.mallocs))
	fmt.Fprintln(t.W, t.S.Dim(fmt.Sprintf("  %-17s %11s  times: minimum of %d rounds of %s calls", "", "", rounds, term.Count(callsPerRound))))
}

// writeRecovery writes the slowest recovery.
func (r *result) writeRecovery(t table) {
	if len(r.kills) == 0 {
		return
	}
	var k recovery
	for _, x := range r.kills {
		k.serving, k.opened, k.caught = max(k.serving, x.serving), max(k.opened, x.opened), max(k.caught, x.caught)
	}
	from := "from the kill to the first answer"
	if n := len(r.kills); n > 1 {
		from += fmt.Sprintf(", slowest of %d", n)
	}
	t.Row("recovery", round(k.serving), from)
	t.Row("spool open", round(k.opened), "of that, to find the lines in the spool")
	if k.caught > 0 {
		t.Row("caught up", round(k.caught), "from then until these were delivered")
	}
}

// brokerToo names the broker if it takes part.
func brokerToo(places []placed) string {
	if slices.ContainsFunc(places, func(p placed) bool { return p.name == toTopic }) {
		return ", broker and disk"
	}
	return " and disk"
}

// writePlaces writes the result of checking each destination.
func (r *result) writePlaces(t table) {
	t.heads()
	t.figures("logged", "lines whose log call returned", false, func(placed) uint64 { return uint64(r.ledger.logged + r.ledger.dropped) })
	t.figures("delivered", "of them read back", false, func(p placed) uint64 {
		if p.check == nil {
			return r.settled[p.name] // the number of acknowledged lines
		}
		return uint64(p.check.delivered - p.check.midCall)
	})
	t.figures("cut off", "read back, killed in the log call", false, checked(func(c *check) int { return c.midCall }))
	t.figures("spooled", "still in the spool", true, func(p placed) uint64 { return r.spooled[p.name] })
	t.figures("dropped", "refused by spool or destination", true, func(p placed) uint64 { return uint64(r.ledger.dropped) + r.refused[p.name] })
	t.figures("lost", "logged, but not read back", true, checked(func(c *check) int { return c.lost }))
	t.figures("duplicates", "read back more than once", true, checked(func(c *check) int { return c.duplicates }))
	t.figures("out of order", "after a line logged later", true, checked(func(c *check) int { return c.reordered }))
	t.figures("invalid", "not a line of valid JSON", true, checked(func(c *check) int { return c.invalid }))
	t.figures("untrue", "differs from what the client saw", true, checked(func(c *check) int { return c.untrue }))
}

// notChecked is the figure of a destination that cannot be read back.
const notChecked = ^uint64(0)

func checked(f func(*check) int) func(placed) uint64 {
	return func(p placed) uint64 {
		if p.check == nil {
			return notChecked
		}
		return uint64(f(p.check))
	}
}

// A table has columns for destinations.
type table struct {
	term.Table
	places []placed
}

func (t table) heads() {
	var b strings.Builder
	for _, p := range t.places {
		fmt.Fprintf(&b, " %11s", p.name)
	}
	fmt.Fprintf(t.W, "  %-17s%s\n", "", t.S.Dim(b.String()))
}

// figures writes a line with a figure for each destination. With verdict the
// figures should be 0.
func (t table) figures(name, meaning string, verdict bool, of func(placed) uint64) {
	var b strings.Builder
	for _, p := range t.places {
		n := of(p)
		figure := fmt.Sprintf("%11s", term.Count(n))
		switch {
		case n == notChecked:
			figure = t.S.Dim(fmt.Sprintf("%11s", "-"))
		case !verdict:
			figure = t.S.Bold(figure)
		case n == 0:
			figure = t.S.Good(figure)
		default:
			figure = t.S.Bad(figure)
		}
		b.WriteString(" " + figure)
	}
	if meaning != "" {
		meaning = "  " + t.S.Dim(meaning)
	}
	fmt.Fprintf(t.W, "  %s%s%s\n", t.S.Dim(fmt.Sprintf("%-17s", name)), &b, meaning)
}

// describeLeft lists the number of records that each destination has not
// settled.
func describeLeft(left map[string]uint64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(left)) {
		parts = append(parts, fmt.Sprintf("%s %s", name, term.Count(left[name])))
	}
	return strings.Join(parts, ", ")
}

// round writes a time with about three digits.
func round(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// nanos writes a time of ns nanoseconds with about three digits.
func nanos(ns float64) string {
	d := time.Duration(ns + 0.5)
	if d >= time.Microsecond {
		d = d.Round(10 * time.Nanosecond)
	}
	return d.String()
}

// exact writes a number of mallocs so that it is 0 only if there was none.
func exact(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
