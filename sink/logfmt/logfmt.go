// SPDX-License-Identifier: Apache-2.0

package logfmt

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/metrics"
)

// A Sink writes each line to a writer as logfmt. It is a [nib.Sink] and safe
// for concurrent use. It formats a line without holding a lock, and writes it
// as [nib.WriterSink] does, with a single Write before WriteRecord returns. It
// does not allocate per record.
type Sink struct {
	traits  // the traits of the writer
	flatten bool
	out     nib.Sink
}

type traits = contract.TraitSet

var _ nib.Sink = (*Sink)(nil)

// New returns a Sink that writes to w. It panics if w is nil. It does not close
// w.
func New(w io.Writer, c Config) *Sink {
	if w == nil {
		panic("nib/logfmt: New with a nil io.Writer")
	}
	if _, ok := w.(nib.Sink); ok {
		w = linewriter.Plain(w)
	}
	s := &Sink{flatten: !c.KeepObjects, out: nib.WriterSink(w)}
	s.traits = contract.TraitsFor(s, contract.TraitsOf(s.out))
	return s
}

// WriteRecord writes r. It returns the error of the writer.
func (s *Sink) WriteRecord(r *nib.Record) error {
	e := encoders.Get().(*encoder)
	e.flatten = s.flatten
	e.buf = e.line(e.buf[:0], r.Line)
	e.record = nib.Record{Time: r.Time, Level: r.Level, PC: r.PC, Logger: r.Logger, Line: e.buf}
	err := s.out.WriteRecord(&e.record)
	e.release()
	return err
}

// Flush flushes the writer if it has a Flush method.
func (s *Sink) Flush(ctx context.Context) error {
	if f, ok := s.out.(delivery.Flusher); ok {
		return f.Flush(ctx)
	}
	return nil
}

// Metrics implements [metrics.Source]. It returns the metrics of the writer.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] { return metrics.Of(s.out).Metrics() }

// Render appends line to dst as the Sink would write it, for lines read back
// from a file. line is any single line, with or without its newline, and is not
// retained. The appended text ends with a newline. Render does not allocate
// except to grow dst.
func (s *Sink) Render(dst, line []byte) []byte {
	e := encoders.Get().(*encoder)
	e.flatten = s.flatten
	dst = e.line(dst, line)
	e.release()
	return dst
}

// encoders is shared by all sinks.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// keepSize is the maximum size of a buffer that is kept for the next line, so
// that a huge line does not hold its memory forever.
const keepSize = 64 << 10

func (e *encoder) release() {
	if cap(e.buf) > keepSize || cap(e.text) > keepSize || cap(e.path) > keepSize {
		return
	}
	e.record = nib.Record{}
	encoders.Put(e)
}
