// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// A lossySink returns nil for lines that it has not written.
type lossySink struct {
	*spool.Sink
	n int
}

func (s *lossySink) WriteRecord(r *nib.Record) error {
	if s.n++; s.n%100 == 50 {
		return nil
	}
	return s.Sink.WriteRecord(r)
}

// A spoiltFile writes other lines into the log than it was given, once, in a
// batch of several: the first one may be a line that came before the others.
type spoiltFile struct {
	*file.Sink
	spoilt bool
	spoil  func(n int, batch []nib.Record) []nib.Record
}

func (d *spoiltFile) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	n := len(batch)
	if n > 1 && !d.spoilt {
		d.spoilt = true
		batch = d.spoil(n, batch)
	}
	_, err := d.Sink.Deliver(ctx, batch)
	return delivery.Result{Accepted: n}, err
}

// spoilt are faults that the oracle must see, and where it must count them.
var spoilt = []struct {
	name  string
	spoil func(n int, batch []nib.Record) []nib.Record // nil: the sink loses lines
	count func(v verdict) int
}{
	{"a sink that loses lines", nil, func(v verdict) int { return v.lost }},
	{"a destination that loses the last line", func(n int, b []nib.Record) []nib.Record { return b[:n-1] }, func(v verdict) int { return v.lost }},
	{"a destination that duplicates", func(_ int, b []nib.Record) []nib.Record { return append(b, b...) }, func(v verdict) int { return v.duplicates }},
	{"a destination that swaps lines", func(_ int, b []nib.Record) []nib.Record { b[0], b[1] = b[1], b[0]; return b },
		func(v verdict) int { return v.misordered }},
	{"a torn line", func(_ int, b []nib.Record) []nib.Record { b[1].Line = b[1].Line[10:]; return b }, func(v verdict) int { return v.torn }},
	{"a line without its end", func(_ int, b []nib.Record) []nib.Record { b[1].Line = b[1].Line[:len(b[1].Line)-9]; return b },
		func(v verdict) int { return v.torn }},
	{"a changed letter", func(_ int, b []nib.Record) []nib.Record {
		at := bytes.Index(b[1].Line, []byte(`"pad":"`)) + 8
		b[1].Line[at] = '#'
		return b
	}, func(v verdict) int { return v.torn }},
	{"a line that nobody has logged", func(_ int, b []nib.Record) []nib.Record {
		b[1].Line = bytes.Replace(b[1].Line, []byte(`"w":0`), []byte(`"w":7`), 1)
		return b
	}, func(v verdict) int { return v.invented }},
}

// TestOracleSees puts each fault between a real logger and a real log.
func TestOracleSees(t *testing.T) {
	for _, c := range append(spoilt, struct {
		name  string
		spoil func(n int, batch []nib.Record) []nib.Record
		count func(v verdict) int
	}{"nothing wrong", func(_ int, b []nib.Record) []nib.Record { return b }, nil}) {
		t.Run(c.name, func(t *testing.T) {
			v := spoiltRun(t, c.spoil)
			switch {
			case c.count == nil && !v.clean():
				t.Errorf("got %v (%s), want it clean", v, v.example)
			case c.count != nil && (v.clean() || c.count(v) == 0):
				t.Errorf("got %v, and the fault is not seen", v)
			}
		})
	}
}

func spoiltRun(t *testing.T, spoil func(int, []nib.Record) []nib.Record) verdict {
	p, b, l := newPlace(t, shmDir(t)), newBoard(t, 1), newLedger()
	f, err := file.Open(p.log, file.Config{})
	must(t, err)
	d := &spoiltFile{Sink: f, spoil: spoil}
	if spoil == nil {
		d.spoil = func(_ int, batch []nib.Record) []nib.Record { return batch }
	}
	b.words[atDown].Store(1) // so that there is a batch of more than one line
	s, err := spool.Open(p.spool, &closedUntil{d, b}, spool.Config{SegmentSize: segment})
	must(t, err)
	v := &service{j: &job{Writers: 1, Lines: 200, Pad: 100}, board: b, spool: s, sink: s}
	if spoil == nil {
		v.sink = &lossySink{Sink: s}
	}
	v.logAll().Wait()
	b.words[atDown].Store(0)
	must(t, s.Flush(context.Background()), s.Close(), f.Close())
	l.enter(0, b)
	text, err := os.ReadFile(p.log)
	must(t, err)
	return l.judge(text)
}

// A closedUntil refuses records until the board is set.
type closedUntil struct {
	delivery.Destination
	board *board
}

func (g *closedUntil) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if g.board.words[atDown].Load() != 0 {
		return delivery.Result{}, errDown
	}
	return g.Destination.Deliver(ctx, batch)
}
