// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// callTimeout is the time after which the suites report that a call hangs. It
// does not measure speed.
const callTimeout = 2 * time.Minute

// Sizes of the suites: enough goroutines to collide, lines up to the largest
// that a logger keeps a buffer for and one far beyond.
const (
	writers        = 8
	linesPerWriter = 200
	bigLine        = 4 << 20
)

// TestSink checks that a sink keeps the contract of [nib.Sink]:
//
//   - each line arrives once, unchanged, and each goroutine's lines in order,
//     also when many call at once and when a line is megabytes long;
//   - neither the record nor its bytes are changed by the sink, or kept by it
//     after WriteRecord has returned;
//   - Flush, if there is one, writes the lines to where read finds them, and
//     ends when its context does;
//   - Close, if there is one, may be called twice and loses nothing;
//     WriteRecord after it returns an error that wraps delivery.ErrClosed.
//
// newSink makes a new sink for each of these. read returns the lines that have
// arrived since, each with its newline, from the place where the sink puts
// them; it is called after Flush or Close, and not while lines are being
// written. The first fault of each kind is reported to t.
func TestSink(t testing.TB, newSink func(t testing.TB) (sink nib.Sink, read func() [][]byte)) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*sinkSuite)
	}{
		{"one line", (*sinkSuite).oneLine},
		{"lines in order", (*sinkSuite).inOrder},
		{"line sizes", (*sinkSuite).sizes},
		{"many goroutines", (*sinkSuite).concurrent},
		{"flush", (*sinkSuite).flush},
		{"close", (*sinkSuite).close},
	} {
		s := &sinkSuite{faults: faults{t: t, check: c.name}}
		s.sink, s.read = newSink(t)
		if s.sink == nil || s.read == nil {
			t.Fatalf("nibtest: newSink returned nil")
		}
		c.run(s)
		s.finish()
	}
}

// A sinkSuite is one check with its own sink.
type sinkSuite struct {
	faults
	sink nib.Sink
	read func() [][]byte
}

func (s *sinkSuite) oneLine() {
	want := line(0, 0, 0)
	s.write(want)
	s.wantLines([][]byte{want})
}

func (s *sinkSuite) inOrder() {
	var want [][]byte
	for n := range linesPerWriter {
		want = append(want, line(0, n, n%50))
		s.write(want[n])
	}
	s.wantLines(want)
}

func (s *sinkSuite) sizes() {
	var want [][]byte
	for n, size := range []int{0, 1, 100, 511, 512, 4095, 4096, 4097, 1<<16 - 1, 1 << 16, 1<<16 + 1,
		bigLine, 3} {
		want = append(want, line(0, n, size))
		s.write(want[n])
	}
	s.wantLines(want)
}

func (s *sinkSuite) concurrent() {
	var wg sync.WaitGroup
	for g := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range linesPerWriter {
				s.write(line(g, n, n%200))
			}
		}()
	}
	if !within(wg.Wait) {
		s.t.Fatalf("%s: WriteRecord hangs", s.check)
	}
	s.settle()
	s.wantEachOnce(s.read())
}

func (s *sinkSuite) flush() {
	f, ok := s.sink.(delivery.Flusher)
	if !ok {
		return
	}
	want := line(0, 0, 10)
	s.write(want)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var err error
	if !within(func() { err = f.Flush(ended) }) {
		s.t.Fatalf("%s: Flush with a cancelled context hangs", s.check)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.fault("Flush with a cancelled context: got error %v, want nil or context.Canceled "+
			"wrapped", err)
	}
	s.wantLines([][]byte{want})
}

func (s *sinkSuite) close() {
	c, ok := s.sink.(io.Closer)
	if !ok {
		return
	}
	want := line(0, 0, 10)
	s.write(want)
	if !within(func() {
		for i := range 2 {
			if err := c.Close(); err != nil {
				s.fault("Close, call %d: got error %v, want nil", i+1, err)
			}
		}
	}) {
		s.t.Fatalf("%s: Close hangs", s.check)
	}
	late := line(0, 1, 10)
	if err := s.sink.WriteRecord(record(late)); !errors.Is(err, delivery.ErrClosed) {
		s.fault("WriteRecord after Close: got error %v, want delivery.ErrClosed wrapped", err)
	}
	s.compare(s.read(), [][]byte{want})
}

// write passes a copy of line to the sink, checks whether the sink has changed
// it, and overwrites it like the next line of a logger.
func (s *sinkSuite) write(line []byte) {
	r := record(bytes.Clone(line))
	before := *r
	if err := s.sink.WriteRecord(r); err != nil {
		s.fault("WriteRecord of %d bytes: got error %v", len(line), err)
	}
	if !sameRecord(r, &before) || !bytes.Equal(r.Line, line) {
		s.fault("WriteRecord changed the record, which is the caller's")
	}
	mangle(before.Line)
	*r = nib.Record{Line: mangled, Message: mangled[:1], Level: nib.LevelFatal}
}

// settle flushes the sink, so that read finds all lines.
func (s *sinkSuite) settle() {
	f, ok := s.sink.(delivery.Flusher)
	if !ok {
		return
	}
	var err error
	if !within(func() { err = f.Flush(context.Background()) }) {
		s.t.Fatalf("%s: Flush hangs", s.check)
	}
	if err != nil {
		s.fault("Flush: got error %v, want nil", err)
	}
}

// wantLines settles, and compares the lines that have arrived.
func (s *sinkSuite) wantLines(want [][]byte) {
	s.settle()
	s.compare(s.read(), want)
}

func (s *sinkSuite) compare(got, want [][]byte) {
	if msg := difference(got, want); msg != "" {
		s.fault("%s", msg)
	}
}

func (s *sinkSuite) wantEachOnce(got [][]byte) {
	if msg := eachOnce(got, func(g, n int) int { return n % 200 }); msg != "" {
		s.fault("%s", msg)
	}
}

// finish closes the sink of this check.
func (s *sinkSuite) finish() {
	if c, ok := s.sink.(io.Closer); ok {
		_ = c.Close() // the check of Close has reported its error
	}
}
