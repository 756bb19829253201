// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// writeReport tells what happened as a table: a name, a figure aligned to the
// right, and what the figure means.
func writeReport(w io.Writer, s style, r result) {
	all, service := r.plan.lines()
	c := r.check
	t := table{w: w, s: s}
	fmt.Fprintln(w)
	t.row("requests", count(r.plan.requests), fmt.Sprintf("over %d connections, in %s", r.connections, r.took.Round(10*time.Millisecond)))
	t.row("requests/s", count(int(float64(r.plan.requests)/r.took.Seconds())), fmt.Sprintf("client and server share %d CPUs", runtime.GOMAXPROCS(0)))
	t.row("lines", count(c.lines), fmt.Sprintf("%s requests and %s errors of their handlers", count(all-service), count(service)))
	t.row("bytes", count(int(c.bytes)), fmt.Sprintf("%d per line", c.bytes/int64(max(c.lines, 1))))
	t.row("files", count(len(r.files)), fmt.Sprintf("rotated at %s bytes", count(maxFile)))
	fmt.Fprintln(w)
	t.row("ns per line", nanos(r.cost.written.ns), "written to the file; "+nanos(r.cost.encoded.ns)+" of them to encode it")
	t.row("ns per request", nanos(r.cost.middleware.ns), "all of the middleware, the line included")
	t.row("mallocs per line", exact(r.cost.written.mallocs), exact(r.cost.middleware.mallocs)+" per request, for its context")
	fmt.Fprintln(w)
	t.verdict("lost", c.lost)
	t.verdict("duplicates", c.duplicates)
	t.verdict("out of order", c.reordered)
	t.verdict("invalid", c.invalid)
	t.verdict("untrue", c.untrue)
	fmt.Fprintln(w)
	fmt.Fprintln(w, s.dim(fmt.Sprintf("ns and mallocs: after the load, one goroutine writes the access line again;\n"+
		"best of %d rounds of %s calls, the contestants in turn.", rounds, count(callsPerRound))))
	fmt.Fprintln(w)
	if c.ok() {
		fmt.Fprintln(w, s.good("Every line is in the files once, in order, valid, and says what the client saw."))
		return
	}
	fmt.Fprintln(w, s.bad("The files are not what was logged:"))
	for _, e := range c.examples {
		fmt.Fprintln(w, "  "+e)
	}
}

type table struct {
	w io.Writer
	s style
}

func (t table) row(name, figure, meaning string) {
	fmt.Fprintf(t.w, "  %s %s  %s\n", t.s.dim(fmt.Sprintf("%-17s", name)), t.s.bold(fmt.Sprintf("%11s", figure)), t.s.dim(meaning))
}

// verdict is a row that ought to be 0.
func (t table) verdict(name string, n int) {
	figure := fmt.Sprintf("%11s", count(n))
	if n == 0 {
		figure = t.s.good(figure)
	} else {
		figure = t.s.bad(figure)
	}
	fmt.Fprintf(t.w, "  %s %s\n", t.s.dim(fmt.Sprintf("%-17s", name)), figure)
}

// count writes a number with commas.
func count(n int) string {
	digits := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func nanos(ns float64) string { return count(int(ns + 0.5)) }

// exact writes a number of mallocs so that it is 0 only if there was none.
func exact(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
