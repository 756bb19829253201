// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// maxMark is the maximum size of a mark that a spool stores.
const maxMark = 40

// ping checks a delivery.Pinger.
func (s *destinationSuite) ping() {
	p, ok := s.dest.(delivery.Pinger)
	if !ok {
		return
	}
	ping := func(ctx context.Context) (err error) {
		if !within(func() { err = p.Ping(ctx) }) {
			s.t.Fatalf("%s: Ping hangs", s.check)
		}
		return err
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = ping(ended) // an open connection needs no time
	want := [][]byte{line(0, 0, 10)}
	for _, when := range []string{"before", "after"} {
		if err := ping(context.Background()); err != nil {
			s.fault("Ping %s Deliver: got error %v, want nil", when, err)
		}
		if when == "before" {
			s.deliverAll(want)
		}
	}
	s.compare(want)
	if c, ok := s.dest.(io.Closer); ok {
		_ = c.Close()
		if err := ping(context.Background()); !errors.Is(err, delivery.ErrClosed) {
			s.fault("Ping after Close: got error %v, want delivery.ErrClosed wrapped", err)
		}
	}
}

// batchSize checks a delivery.Batcher.
func (s *destinationSuite) batchSize() {
	if b, ok := s.dest.(delivery.Batcher); ok {
		if records, size := b.BatchSize(); records <= 0 || size <= 0 {
			s.fault("BatchSize: got %d records and %d bytes, want positive numbers", records, size)
		}
	}
}

// resume checks a delivery.Resumer that has accepted none of the records.
func (s *destinationSuite) resume() {
	r, ok := s.dest.(delivery.Resumer)
	if !ok {
		return
	}
	mark := func(when string) []byte {
		m := r.Mark()
		if len(m) > maxMark {
			s.fault("Mark %s Deliver: got %d bytes, want at most %d", when, len(m), maxMark)
		}
		return m
	}
	want := [][]byte{line(0, 0, 1), line(0, 1, 2), line(0, 2, 3)}
	resume := func(mark []byte) (taken int, err error) {
		if !within(func() { taken, err = r.Resume(context.Background(), mark, s.records(want)) }) {
			s.t.Fatalf("%s: Resume hangs", s.check)
		}
		return taken, err
	}
	if taken, err := resume(nil); taken != 0 || err != nil {
		s.fault("Resume of records that were never delivered: got %d and error %v, want 0 and nil",
			taken, err)
	}
	mark("before")
	s.deliverAll(want)
	last := bytes.Clone(mark("after"))
	s.compare(want)
	if c, ok := s.dest.(io.Closer); ok {
		_ = c.Close()
		if taken, err := resume(last); !errors.Is(err, delivery.ErrClosed) {
			s.fault(
				"Resume after Close: got %d and error %v, want an error that wraps "+
					"delivery.ErrClosed", taken, err)
		}
	}
}

// syncMark acts as a spool does after each Deliver for a delivery.MarkSyncer,
// and reports whether it was needed.
func (s *destinationSuite) syncMark() bool {
	m, ok := s.dest.(delivery.MarkSyncer)
	if !ok || !m.SyncMark() {
		return false
	}
	if r, ok := s.dest.(delivery.Resumer); ok {
		r.Mark()
	}
	return true
}

// overlap checks a delivery.Overlapper: the next batch begins with the
// unsettled records, followed by more.
func (s *destinationSuite) overlap() {
	o, ok := s.dest.(delivery.Overlapper)
	if !ok {
		return
	}
	o.Overlap()
	var all, left [][]byte
	for range 20 {
		for range 10 {
			l := line(0, len(all), 50)
			all, left = append(all, l), append(left, l)
		}
		res, err := s.deliver(context.Background(), left)
		if err != nil {
			s.fault("Deliver: got error %v, want nil", err)
		}
		left = left[res.Accepted:]
	}
	s.deliverAll(left)
	s.compare(all)
}

// fork checks a delivery.Forker.
func (s *destinationSuite) fork() {
	f, ok := s.dest.(delivery.Forker)
	if !ok {
		return
	}
	other, err := f.Fork()
	if err != nil || other == nil || other == s.dest {
		s.fault("Fork: got %v and error %v, want another destination and nil", other, err)
		return
	}
	if c, ok := other.(io.Closer); ok {
		if err := c.Close(); err != nil {
			s.fault("Close of what Fork returned: got error %v, want nil", err)
		}
	}
	want := [][]byte{line(0, 0, 10)}
	s.deliverAll(want)
	s.compare(want)
}

// records makes a batch of copies of lines.
func (s *destinationSuite) records(lines [][]byte) []nib.Record {
	batch := make([]nib.Record, len(lines))
	for i, l := range lines {
		batch[i] = *record(bytes.Clone(l))
		batch[i].Spool, batch[i].Seq = 1, s.seq+uint64(i)+1
	}
	return batch
}
