// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/nib-log/nib"
)

// messageText is the message of all lines of the suites.
const messageText = "conformance"

// line makes line n of goroutine g, with a field of size bytes that differs
// from line to line.
func line(g, n, size int) []byte {
	b := fmt.Appendf(nil, `{"level":"info","g":%d,"n":%d,"fill":"`, g, n)
	for i := range size {
		b = append(b, 'a'+byte((g+n+i)%26))
	}
	return append(b, `","message":"`+messageText+"\"}\n"...)
}

// record describes a line of the suites. It refers to line and does not copy
// it.
func record(line []byte) *nib.Record {
	at := bytes.LastIndex(line, []byte(messageText))
	return &nib.Record{
		Time:    epoch.UnixNano(),
		Level:   nib.LevelInfo,
		Message: line[at : at+len(messageText)],
		Line:    line,
	}
}

// sameRecord compares the parts of a record that a sink might change, except
// the bytes.
func sameRecord(a, b *nib.Record) bool {
	return a.Time == b.Time && a.Level == b.Level && a.PC == b.PC && a.Logger == b.Logger &&
		a.Spool == b.Spool && a.Seq == b.Seq && sameSlice(a.Line, b.Line) &&
		sameSlice(a.Message, b.Message)
}

func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// mangled replaces the line of a record after its write.
var mangled = []byte("{\"mangled\":true}\n")

// mangle overwrites a buffer as its next user would.
func mangle(b []byte) {
	for i := range b {
		b[i] = '#'
	}
}

// difference describes the first difference between two lists of lines, or
// returns "".
func difference(got, want [][]byte) string {
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i]) {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i, short(got[i]), short(want[i]))
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("got %d lines, want %d", len(got), len(want))
	}
	return ""
}

// eachOnce checks the lines of all goroutines of a suite: each arrived once,
// whole, and each goroutine's lines in order. It describes the first fault, or
// returns "".
func eachOnce(got [][]byte, size func(g, n int) int) string {
	var next [writers]int
	for i, l := range got {
		var g, n int
		if _, err := fmt.Sscanf(string(l[:min(len(l), 64)]), `{"level":"info","g":%d,"n":%d`, &g,
			&n); err != nil ||
			g < 0 || g >= writers || n < 0 || n >= linesPerWriter {
			return fmt.Sprintf("line %d was never written: %s", i, short(l))
		}
		if want := line(g, n, size(g, n)); !bytes.Equal(l, want) {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i, short(l), short(want))
		}
		if n != next[g] {
			return fmt.Sprintf(
				"goroutine %d: got its line %d, want %d (lost, twice, or out of order)", g, n,
				next[g])
		}
		next[g]++
	}
	for g, n := range next {
		if n != linesPerWriter {
			return fmt.Sprintf("goroutine %d: got %d lines, want %d", g, n, linesPerWriter)
		}
	}
	return ""
}

// short quotes a line, without the middle of a long one.
func short(line []byte) string {
	const most = 200
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q… (%d bytes) …%q", line[:most/2], len(line), line[len(line)-most/2:])
}

// within reports whether f returned before the timeout.
func within(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timeout := time.NewTimer(callTimeout)
	defer timeout.Stop()
	select {
	case <-done:
		return true
	case <-timeout.C:
		return false
	}
}
