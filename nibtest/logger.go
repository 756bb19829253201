// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
)

// A Capture is a logger whose lines go to the output of a test, with a
// [Recorder] of them. [Logger] makes one.
type Capture struct {
	*nib.Logger
	// Rec has every line, for Find, FindAll, Lines and Len.
	Rec *Recorder

	tb   testing.TB
	hold bool // debug lines wait until the test has failed

	mu      sync.Mutex // protects the fields below, and is held while tb shows a line
	held    [][]byte   // lines without their newlines
	size    int        // total size of held
	dropped int        // number of lines dropped from held
	ended   bool
}

// maxHeld is the maximum number of bytes of debug lines that are held.
const maxHeld = 1 << 20

// Logger returns a logger for a test or benchmark, at LevelDebug unless opts
// say otherwise:
//
//	func TestCheckout(t *testing.T) {
//		log := nibtest.Logger(t)
//		checkout(log.Logger, order)
//		log.Want("order placed", slog.Int("items", 3))
//		log.WantNone(nib.LevelError)
//	}
//
// Its lines belong to tb, so each subtest should make its own logger. go test
// shows them if the test fails. With -v, and in benchmarks, it shows lines as
// they are written, but those below LevelInfo only if the test has failed, at
// its end. Lines that are logged after the test has ended, by goroutines that
// it has started, are dropped.
//
// Wrong use of an event fails the test, as does Fatal, which ends its goroutine
// and not the process. The logger starts no goroutine and reads the clock only
// for its lines, so it works in bubbles of testing/synctest.
func Logger(tb testing.TB, opts ...nib.Option) *Capture {
	tb.Helper()
	_, isBenchmark := tb.(*testing.B)
	c := &Capture{Rec: new(Recorder), tb: tb, hold: isBenchmark || testing.Verbose()}
	all := append([]nib.Option{
		nib.WithLevel(nib.LevelDebug), nib.WithErrorHandler(c.report), nib.WithExit(c.exit),
	}, opts...)
	c.Logger = nib.NewSink(captureSink{c}, all...)
	tb.Cleanup(c.end)
	return c
}

// A captureSink has no Flush: Flush of a Capture is Flush of its Logger, which
// would call itself.
type captureSink struct{ to *Capture }

// WriteRecord implements nib.Sink.
func (s captureSink) WriteRecord(r *nib.Record) error {
	s.to.tb.Helper()
	if !s.to.take(r) {
		return nil
	}
	return s.to.Rec.WriteRecord(r)
}

// take shows the line of r or holds it back. It returns false if the test has
// ended.
func (c *Capture) take(r *nib.Record) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	line := r.Line[:len(r.Line)-1]
	if c.hold && r.Level < nib.LevelInfo && !c.tb.Failed() {
		c.keep(line)
	} else {
		c.tb.Helper()
		c.show(line)
	}
	return true
}

// keep holds a line back, and drops the oldest ones if there are too many.
func (c *Capture) keep(line []byte) {
	c.held, c.size = append(c.held, slices.Clone(line)), c.size+len(line)
	for c.size > maxHeld {
		c.size -= len(c.held[0])
		c.held = c.held[1:]
		c.dropped++
	}
}

// end runs when the test and its other cleanups have ended.
func (c *Capture) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tb.Failed() {
		if c.dropped > 0 {
			c.tb.Logf("nibtest: %d debug lines are left out", c.dropped)
		}
		for _, line := range c.held {
			c.show(line)
		}
	}
	c.ended, c.held = true, nil
}

// report returns the error handler.
func (c *Capture) report(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.tb.Error(err)
	}
}

// exit replaces os.Exit for Fatal. On the goroutine of the test, Goexit without
// FailNow would end the process.
func (c *Capture) exit(int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.tb.FailNow()
	}
	runtime.Goexit()
}

// Want fails the test unless a line with this message and these fields was
// logged. Values are compared as JSON: 3 is equal to 3.0, and a time.Duration
// is a number of nanoseconds, so compare durations in the format of the line.
func (c *Capture) Want(msg string, fields ...slog.Attr) {
	c.tb.Helper()
	found := c.Rec.findAll(msg, true)
	for _, line := range found {
		if !slices.ContainsFunc(fields, func(a slog.Attr) bool { return !hasField(line, a) }) {
			return
		}
	}
	if len(found) == 0 {
		c.tb.Errorf("no line has the message %q; got %s", msg, c.all())
		return
	}
	c.tb.Errorf("no line has the message %q and the fields %v; got %v", msg, fields, found)
}

// WantNone fails the test if a line of this level or above was logged.
func (c *Capture) WantNone(level nib.Level) {
	c.tb.Helper()
	for _, r := range c.Rec.Records() {
		if r.Level >= level {
			c.tb.Errorf("got a line of level %v, want none of %v or above: %s", r.Level, level,
				text(&r))
		}
	}
}

// all lists the lines of the recorder; of a long test, only a part.
func (c *Capture) all() string {
	const most = 20
	lines := c.Rec.Lines()
	more := ""
	if n := len(lines) - most; n > 0 {
		lines, more = lines[n:], fmt.Sprintf(" (and %d before them)", n)
	}
	return fmt.Sprintf("%q%s", lines, more)
}

// hasField reports whether a line has the field a.
func hasField(line map[string]any, a slog.Attr) bool {
	got, ok := line[a.Key]
	return ok && sameValue(got, plain(a.Value))
}

// plain returns the value of a field for package json.
func plain(v slog.Value) any {
	v = v.Resolve()
	switch x := v.Any().(type) {
	case []slog.Attr:
		group := map[string]any{}
		for _, a := range x {
			group[a.Key] = plain(a.Value)
		}
		return group
	case error:
		return x.Error()
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return strconv.FormatFloat(x, 'g', -1, 64) // JSON has no such numbers
		}
	}
	return v.Any()
}

// sameValue compares a value of a line with one of a test.
func sameValue(got, want any) bool {
	b, err := json.Marshal(want)
	if err != nil {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var decoded any
	return dec.Decode(&decoded) == nil && sameJSON(got, decoded)
}

// sameJSON compares values that package json has decoded with UseNumber.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(string(a), string(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameJSON)
	}
	return a == b
}

// sameNumber compares integers exactly, whatever their size, and other numbers
// as float64.
func sameNumber(a, b string) bool {
	if a == b || !strings.ContainsAny(a+b, ".eE") {
		return a == b
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
