// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/nibtest"
)

// A goodSink does everything that a sink may do. The broken ones differ from it
// in one method or one hook.
type goodSink struct {
	mu     sync.Mutex
	lines  [][]byte // in the buffer
	out    [][]byte // flushed
	closed bool
	keep   func(s *goodSink, r *nib.Record) // how a line is kept
}

var errClosed = fmt.Errorf("the sink: %w", delivery.ErrClosed)

func (s *goodSink) WriteRecord(r *nib.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if s.keep != nil {
		s.keep(s, r)
		return nil
	}
	s.add(r.Line)
	return nil
}

func (s *goodSink) add(line []byte) { s.lines = append(s.lines, bytes.Clone(line)) }

func (s *goodSink) Flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.lines = append(s.out, s.lines...), nil
	return nil
}

func (s *goodSink) Close() error {
	err := s.Flush(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return err
}

func (s *goodSink) read() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out
}

func TestSinkPassesGoodSinks(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t testing.TB) (nib.Sink, func() [][]byte)
	}{
		{"buffered", func(testing.TB) (nib.Sink, func() [][]byte) {
			s := new(goodSink)
			return s, s.read
		}},
		{"Recorder", func(testing.TB) (nib.Sink, func() [][]byte) {
			s := new(nibtest.Recorder)
			return s, func() (lines [][]byte) {
				for _, r := range s.Records() {
					lines = append(lines, r.Line)
				}
				return lines
			}
		}},
		{"WriterSink", func(testing.TB) (nib.Sink, func() [][]byte) {
			var b bytes.Buffer
			return nib.WriterSink(&b), func() [][]byte { return splitLines(b.Bytes()) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) { nibtest.TestSink(t, c.make) })
	}
}

func splitLines(b []byte) [][]byte {
	lines := bytes.SplitAfter(b, []byte{'\n'})
	return lines[:len(lines)-1]
}

func TestSinkFindsFaultsInHowLinesAreKept(t *testing.T) {
	for _, c := range seed.Some(t, 1, []struct {
		name string
		keep func(s *goodSink, r *nib.Record)
		want string
	}{
		{"loses every hundredth line", func(s *goodSink, r *nib.Record) {
			if !bytes.Contains(r.Line, []byte(`"n":99,`)) {
				s.add(r.Line)
			}
		}, "lines in order: line 99"},
		{"writes a line twice", func(s *goodSink, r *nib.Record) {
			s.add(r.Line)
			if bytes.Contains(r.Line, []byte(`"g":5,"n":42,`)) {
				s.add(r.Line)
			}
		}, "goroutine 5: got its line 42, want 43"},
		{"swaps two lines", func(s *goodSink, r *nib.Record) {
			s.add(r.Line)
			if n := len(s.lines); n > 1 && bytes.Contains(s.lines[n-2], []byte(`"g":0,"n":7,`)) {
				s.lines[n-1], s.lines[n-2] = s.lines[n-2], s.lines[n-1]
			}
		}, "lines in order: line 7"},
		{"keeps the caller's bytes", func(s *goodSink, r *nib.Record) {
			s.lines = append(s.lines, r.Line)
		}, "####"},
		{"cuts long lines", func(s *goodSink, r *nib.Record) {
			s.add(r.Line[:min(len(r.Line), 1<<20)])
		}, "line sizes: line 11"},
		{"adds a field", func(s *goodSink, r *nib.Record) {
			s.lines = append(s.lines, append([]byte(`{"x":1,`), r.Line[1:]...))
		}, "one line: line 0"},
		{"drops the newline", func(s *goodSink, r *nib.Record) {
			s.add(bytes.TrimSuffix(r.Line, []byte{'\n'}))
		}, "one line: line 0"},
		{"writes into the line", func(s *goodSink, r *nib.Record) {
			s.add(r.Line)
			r.Line[len(r.Line)-1] = 0
		}, "changed the record"},
		{"changes the level", func(s *goodSink, r *nib.Record) {
			s.add(r.Line)
			r.Level++
		}, "changed the record"},
		{"cuts the line of the record", func(s *goodSink, r *nib.Record) {
			s.add(r.Line)
			r.Line = r.Line[:1]
		}, "changed the record"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			wantFault(t, faultsOf(func(tb testing.TB) {
				nibtest.TestSink(tb, func(testing.TB) (nib.Sink, func() [][]byte) {
					s := &goodSink{keep: c.keep}
					return s, s.read
				})
			}), c.want)
		})
	}
}

// keepsRecord keeps the pointer that it receives and reads it in Flush.
type keepsRecord struct {
	goodSink
	kept []*nib.Record
}

func (s *keepsRecord) WriteRecord(r *nib.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, r)
	return nil
}

func (s *keepsRecord) Flush(context.Context) error {
	for _, r := range s.kept {
		s.add(r.Line)
	}
	s.kept = nil
	return s.goodSink.Flush(context.Background())
}

type flushForgets struct{ goodSink }

func (s *flushForgets) Flush(context.Context) error { return nil }

type flushFails struct{ goodSink }

func (s *flushFails) Flush(context.Context) error { return io.ErrShortWrite }

type flushMixesUpErrors struct{ goodSink }

func (s *flushMixesUpErrors) Flush(ctx context.Context) error {
	if ctx.Err() != nil {
		return io.ErrUnexpectedEOF
	}
	return s.goodSink.Flush(ctx)
}

type closeOnce struct{ goodSink }

func (s *closeOnce) Close() error {
	if s.closed {
		return errClosed
	}
	return s.goodSink.Close()
}

type closeForgets struct{ goodSink }

func (s *closeForgets) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

type writesOn struct{ goodSink }

func (s *writesOn) Close() error { return s.Flush(context.Background()) }

type refuses struct{ goodSink }

func (s *refuses) WriteRecord(*nib.Record) error { return io.ErrClosedPipe }

func TestSinkFindsFaultsInMethods(t *testing.T) {
	for _, c := range seed.Some(t, 1, []struct {
		name string
		make func() (nib.Sink, *goodSink)
		want string
	}{
		{"keeps the record", func() (nib.Sink, *goodSink) { s := new(keepsRecord); return s, &s.goodSink }, "mangled"},
		{"Flush does nothing", func() (nib.Sink, *goodSink) { s := new(flushForgets); return s, &s.goodSink }, "one line: got 0 lines, want 1"},
		{"Flush fails", func() (nib.Sink, *goodSink) { s := new(flushFails); return s, &s.goodSink }, "Flush: got error short write"},
		{"Flush hides the context's error", func() (nib.Sink, *goodSink) { s := new(flushMixesUpErrors); return s, &s.goodSink }, "Flush with a cancelled context"},
		{"second Close fails", func() (nib.Sink, *goodSink) { s := new(closeOnce); return s, &s.goodSink }, "Close, call 2"},
		{"Close loses lines", func() (nib.Sink, *goodSink) { s := new(closeForgets); return s, &s.goodSink }, "close: got 0 lines, want 1"},
		{"writes after Close", func() (nib.Sink, *goodSink) { s := new(writesOn); return s, &s.goodSink }, "WriteRecord after Close"},
		{"refuses lines", func() (nib.Sink, *goodSink) { s := new(refuses); return s, &s.goodSink }, "WriteRecord of"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			wantFault(t, faultsOf(func(tb testing.TB) {
				nibtest.TestSink(tb, func(testing.TB) (nib.Sink, func() [][]byte) {
					s, g := c.make()
					return s, g.read
				})
			}), c.want)
		})
	}
}

func TestSinkNeedsASink(t *testing.T) {
	wantFault(t, faultsOf(func(tb testing.TB) {
		nibtest.TestSink(tb, func(testing.TB) (nib.Sink, func() [][]byte) { return nil, nil })
	}), "newSink returned nil")
}

// A sink that fails each call is reported once by each check.
func TestSinkReportsAFaultOnce(t *testing.T) {
	faults := faultsOf(func(tb testing.TB) {
		nibtest.TestSink(tb, func(testing.TB) (nib.Sink, func() [][]byte) {
			s := new(refuses)
			return s, s.read
		})
	})
	refused := map[string]int{}
	for _, f := range faults {
		if check, _, ok := strings.Cut(f, ": WriteRecord of "); ok {
			refused[check]++
		}
	}
	if len(refused) < 5 {
		t.Errorf("%d checks have written, want all: %v", len(refused), refused)
	}
	for check, n := range refused {
		if n != 1 {
			t.Errorf("%s: %d reports, want one", check, n)
		}
	}
}
