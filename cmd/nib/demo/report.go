// SPDX-License-Identifier: Apache-2.0

package demo

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

// writeReport tells what happened as a table: a name, a figure aligned to the
// right, and what the figure means; then a column of figures for each destination.
func writeReport(w io.Writer, s term.Style, r result) {
	t := table{term.Table{W: w, S: s}, r.places}
	fmt.Fprintln(w)
	r.writeLoad(t)
	fmt.Fprintln(w)
	r.writePlaces(t)
	fmt.Fprintln(w)
	fmt.Fprintln(w, s.Dim(fmt.Sprintf("ns and mallocs: after the load, one goroutine writes the access line again; best of %d rounds of %s\n"+
		"calls, the contestants in turn. All counts of lines are of what was read back.", rounds, term.Count(callsPerRound))))
	fmt.Fprintln(w)
	if r.ok() {
		fmt.Fprintln(w, s.Good("Every line whose call returned is there once, in order, valid, and says what the client saw."))
		return
	}
	fmt.Fprintln(w, s.Bad("What came back is not what was logged:"))
	for _, p := range r.places {
		if p.check == nil {
			continue
		}
		for _, e := range p.check.examples {
			fmt.Fprintf(w, "  %s: %s\n", p.name, e)
		}
	}
}

// writeLoad tells of requests, the kill and the costs.
func (r *result) writeLoad(t table) {
	cut := r.ledger.cutOff()
	over := fmt.Sprintf("over %d connections, in %s", r.plan.connections, r.took.Round(10*time.Millisecond))
	if cut > 0 {
		over += fmt.Sprintf("; %s cut off by SIGKILL", term.Count(cut))
	}
	if r.dialled > r.plan.connections && len(r.kills) == 0 { // a system that tears a process down may take calls meanwhile
		over += fmt.Sprintf("; dialled %d times", r.dialled)
	}
	t.Row("requests", term.Count(r.plan.requests), over)
	t.Row("requests/s", term.Count(int(float64(r.plan.requests)/r.took.Seconds())),
		fmt.Sprintf("client, service%s share %d CPUs", brokerToo(r.places), runtime.GOMAXPROCS(0)))
	file := r.places[0].check
	t.Row("bytes", term.Count(file.bytes), fmt.Sprintf("%d per line; in %d files, rotated at %s bytes", file.bytes/int64(max(file.lines, 1)), len(r.files), term.Count(maxFile)))
	r.writeRecovery(t)
	fmt.Fprintln(t.W)
	t.Row("ns per line", nanos(r.cost.spooled.ns), fmt.Sprintf("into the spool; %s of them to encode it. With a write(2) each: %s",
		nanos(r.cost.encoded.ns), nanos(r.cost.written.ns)))
	t.Row("ns per request", nanos(r.cost.middleware.ns), "all of the middleware, the line included")
	t.Row("mallocs per line", exact(r.cost.spooled.mallocs), exact(r.cost.middleware.mallocs)+" per request, for its context")
	fmt.Fprintln(t.W)
	l := r.ledger
	t.Row("logged", term.Count(l.logged+l.dropped), "lines of which the service has told, after their calls had returned")
}

// writeRecovery tells of the slowest recovery.
func (r *result) writeRecovery(t table) {
	if len(r.kills) == 0 {
		return
	}
	var k recovery
	for _, x := range r.kills {
		k.serving, k.opened, k.caught = max(k.serving, x.serving), max(k.opened, x.opened), max(k.caught, x.caught)
	}
	from := "from the kill until the next process answers"
	if n := len(r.kills); n > 1 {
		from += fmt.Sprintf(", the slowest of %d", n)
	}
	t.Row("recovery", round(k.serving), from)
	t.Row("spool open", round(k.opened), "of that, with all that was in it found")
	if k.caught > 0 {
		t.Row("caught up", round(k.caught), "after it was opened: all that was in it is delivered")
	}
}

// brokerToo names the broker if it takes part.
func brokerToo(places []placed) string {
	if slices.ContainsFunc(places, func(p placed) bool { return p.name == toTopic }) {
		return ", broker and disk"
	}
	return " and disk"
}

// writePlaces tells what the destinations hold.
func (r *result) writePlaces(t table) {
	t.heads()
	t.figures("delivered", "logged lines that came back", false, func(p placed) uint64 {
		if p.check == nil {
			return r.settled[p.name] // told by the receiver
		}
		return uint64(p.check.delivered - p.check.midCall)
	})
	t.figures("cut off", "more that came back: the kill came before the service told of them", false, checked(func(c *check) int { return c.midCall }))
	t.figures("spooled", "", true, func(p placed) uint64 { return r.spooled[p.name] })
	t.figures("dropped", "", true, func(p placed) uint64 { return uint64(r.ledger.dropped) + r.refused[p.name] })
	t.figures("lost", "", true, checked(func(c *check) int { return c.lost }))
	t.figures("duplicates", "", true, checked(func(c *check) int { return c.duplicates }))
	t.figures("out of order", "", true, checked(func(c *check) int { return c.reordered }))
	t.figures("invalid", "", true, checked(func(c *check) int { return c.invalid }))
	t.figures("untrue", "", true, checked(func(c *check) int { return c.untrue }))
}

// notChecked stands for a figure of a destination that cannot be read back.
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

// figures writes a line with a figure for each destination. Those of a verdict ought
// to be 0.
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

// describeLeft lists what destinations have not settled.
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

func nanos(ns float64) string { return term.Count(int(ns + 0.5)) }

// exact writes a number of mallocs so that it is 0 only if there was none.
func exact(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
