// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// maxAttempts is the number of times that the suite delivers again before it
// gives up on a destination that accepts nothing.
const maxAttempts = 100

// TestDestination checks that a destination keeps the contract of
// [delivery.Destination], under normal conditions (it simulates no network
// failure):
//
//   - each record arrives once, unchanged and in order, whatever the size of
//     batches and lines; records not settled by a Result are delivered again;
//   - Accepted is within the batch, and Rejected names records below it, each
//     once;
//   - nothing of a batch is kept after Deliver has returned;
//   - an empty batch is not an error;
//   - Deliver ends when its context does, and then settles only records that
//     have arrived;
//   - Close, if there is one, may be called twice; Deliver after it settles
//     nothing and returns an error that wraps delivery.ErrClosed;
//   - its optional abilities keep the promises of package delivery: Pinger,
//     Batcher, Resumer, Overlapper, Forker.
//
// newDestination makes a new destination for each of these. read returns the
// lines that have arrived since, each with its newline; it is called after
// Flush (if there is one) or Close. The first fault of each kind is reported to
// t.
func TestDestination(
	t testing.TB, newDestination func(t testing.TB) (d delivery.Destination, read func() [][]byte),
) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*destinationSuite)
	}{
		{"empty batch", (*destinationSuite).empty},
		{"batches", (*destinationSuite).batches},
		{"line sizes", (*destinationSuite).sizes},
		{"cancelled context", (*destinationSuite).cancelled},
		{"close", (*destinationSuite).close},
		{"ping", (*destinationSuite).ping},
		{"batch size", (*destinationSuite).batchSize},
		{"resume", (*destinationSuite).resume},
		{"overlap", (*destinationSuite).overlap},
		{"fork", (*destinationSuite).fork},
	} {
		s := &destinationSuite{faults: faults{t: t, check: c.name}}
		s.dest, s.read = newDestination(t)
		if s.dest == nil || s.read == nil {
			t.Fatalf("nibtest: newDestination returned nil")
		}
		c.run(s)
		if c, ok := s.dest.(io.Closer); ok {
			_ = c.Close() // the check of Close has reported its error
		}
	}
}

// A destinationSuite is one check with its own destination.
type destinationSuite struct {
	faults
	dest delivery.Destination
	read func() [][]byte
	seq  uint64
}

func (s *destinationSuite) empty() {
	res, err := s.deliver(context.Background(), nil)
	if err != nil || res.Accepted != 0 || len(res.Rejected) != 0 {
		s.fault("Deliver of no records: got %+v and error %v, want a zero Result and nil", res, err)
	}
	s.compare(nil)
}

func (s *destinationSuite) batches() {
	var all [][]byte
	for _, size := range []int{1, 2, 1, 100, 7, 1000} {
		var batch [][]byte
		for range size {
			batch = append(batch, line(0, len(all)+len(batch), size%90))
		}
		s.deliverAll(batch)
		all = append(all, batch...)
	}
	s.compare(all)
}

func (s *destinationSuite) sizes() {
	var all [][]byte
	for n, size := range []int{0, 1, 511, 4096, 1 << 16, 1<<16 + 1, 1 << 18, 3} {
		all = append(all, line(0, n, size))
	}
	s.deliverAll(all)
	s.compare(all)
}

// cancelled delivers with a context that has ended: whatever was settled must
// have arrived, and the rest can be delivered afterwards.
func (s *destinationSuite) cancelled() {
	batch := [][]byte{line(0, 0, 1), line(0, 1, 2), line(0, 2, 3)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err := s.deliver(ctx, batch)
	if err == nil && res.Accepted < len(batch) {
		s.fault("Deliver with a cancelled context settled %d of %d records and gave no error",
			res.Accepted, len(batch))
	}
	s.deliverAll(batch[res.Accepted:])
	s.compare(batch)
}

func (s *destinationSuite) close() {
	c, ok := s.dest.(io.Closer)
	if !ok {
		return
	}
	want := [][]byte{line(0, 0, 10)}
	s.deliverAll(want)
	if !within(func() {
		for i := range 2 {
			if err := c.Close(); err != nil {
				s.fault("Close, call %d: got error %v, want nil", i+1, err)
			}
		}
	}) {
		s.t.Fatalf("%s: Close hangs", s.check)
	}
	res, err := s.deliver(context.Background(), [][]byte{line(0, 1, 10)})
	if !errors.Is(err, delivery.ErrClosed) || res.Accepted != 0 {
		s.fault("Deliver after Close: got %+v and error %v, want delivery.ErrClosed wrapped and "+
			"nothing settled", res, err)
	}
	if msg := difference(s.read(), want); msg != "" {
		s.fault("%s", msg)
	}
}

// deliverAll delivers until everything is settled.
func (s *destinationSuite) deliverAll(lines [][]byte) {
	var last error
	for range maxAttempts {
		if len(lines) == 0 {
			return
		}
		res, err := s.deliver(context.Background(), lines)
		if err == nil && res.Accepted == 0 && !s.syncMark() {
			s.fault("Deliver settled none of %d records and gave no error", len(lines))
			return
		}
		for _, r := range res.Rejected {
			s.fault("record %d was rejected (%v); it is an ordinary line", r.Index, r.Reason)
		}
		lines, last = lines[res.Accepted:], err
	}
	s.fault("%d records are still not settled after %d attempts: %v", len(lines), maxAttempts, last)
}

// deliver passes copies, checks that the Result is plausible, and overwrites
// the copies.
func (s *destinationSuite) deliver(
	ctx context.Context, lines [][]byte,
) (res delivery.Result, err error) {
	batch := s.records(lines)
	if !within(func() { res, err = s.dest.Deliver(ctx, batch) }) {
		s.t.Fatalf("%s: Deliver of %d records hangs", s.check, len(lines))
	}
	if res.Accepted < 0 || res.Accepted > len(lines) {
		s.t.Fatalf("%s: Accepted is %d of a batch of %d", s.check, res.Accepted, len(lines))
	}
	named := map[int]bool{}
	for _, r := range res.Rejected {
		if r.Index < 0 || r.Index >= res.Accepted || named[r.Index] {
			s.fault("Rejected names record %d, again or with Accepted %d", r.Index, res.Accepted)
		}
		named[r.Index] = true
	}
	s.seq += uint64(res.Accepted)
	for i := range batch {
		mangle(batch[i].Line)
		batch[i] = nib.Record{Line: mangled, Message: mangled[:1]}
	}
	return res, err
}

// compare flushes, and compares the lines that have arrived.
func (s *destinationSuite) compare(want [][]byte) {
	if f, ok := s.dest.(delivery.Flusher); ok {
		var err error
		if !within(func() { err = f.Flush(context.Background()) }) {
			s.t.Fatalf("%s: Flush hangs", s.check)
		}
		if err != nil {
			s.fault("Flush: got error %v, want nil", err)
		}
	}
	if msg := difference(s.read(), want); msg != "" {
		s.fault("%s", msg)
	}
}
