// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"io"
	"iter"
	"os"
	"sync"
	"syscall"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/metrics"
)

// A Sink writes each line to a writer in human-readable form. It is a
// [nib.Sink] and safe for concurrent use. It formats a line without holding a
// lock, and writes the line and its blocks as [nib.WriterSink] does, with a
// single Write before WriteRecord returns. It does not allocate per record.
type Sink struct {
	traits
	view *view
	out  nib.Sink
	// The width: fixed if it is not 0, otherwise the width of terminal, unless
	// it is nil.
	fixed    int
	terminal syscall.RawConn
}

type traits = contract.TraitSet

var _ nib.Sink = (*Sink)(nil)

// New returns a Sink that writes to w. New determines from c.Color, w and the
// environment whether the Sink writes colours. It panics if w is nil or c is
// invalid (see [Config.Validate]). The Sink does not close w.
func New(w io.Writer, c Config) *Sink {
	if w == nil {
		panic("nib/console: New with a nil io.Writer")
	}
	if err := c.Validate(); err != nil {
		panic(err)
	}
	out := w
	if _, ok := w.(nib.Sink); ok {
		out = linewriter.Plain(w)
	}
	s := &Sink{
		view:  newView(c, wantColor(c.Color, w, os.Getenv)),
		out:   nib.WriterSink(out),
		fixed: fixedWidth(c.Width, os.Getenv),
	}
	s.traits = contract.TraitsFor(s, contract.TextDurations|contract.TraitsOf(s.out))
	if s.fixed == 0 {
		s.terminal = terminalOf(w)
	}
	return s
}

// painter returns a painter for one line.
func (s *Sink) painter() *painter {
	p := painters.Get().(*painter)
	p.view, p.width = s.view, s.fixed
	if s.terminal != nil && s.terminal.Control(p.askWidth) != nil {
		p.width = 0
	}
	return p
}

// WriteRecord writes r. It returns the error of the writer.
func (s *Sink) WriteRecord(r *nib.Record) error {
	p := s.painter()
	p.buf = p.line(p.buf[:0], r.Line, r)
	p.record = nib.Record{Time: r.Time, Level: r.Level, PC: r.PC, Logger: r.Logger, Line: p.buf}
	err := s.out.WriteRecord(&p.record)
	p.release()
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
	p := s.painter()
	dst = p.line(dst, line, nil)
	p.release()
	return dst
}

// newPainter returns a painter and sets its askWidth, which would otherwise be
// allocated for each line.
func newPainter() *painter {
	p := new(painter)
	p.askWidth = func(fd uintptr) { p.width = windowWidth(fd) }
	return p
}

// painters is shared by all sinks.
var painters = sync.Pool{New: func() any { return newPainter() }}

// Larger painters are not pooled, so that a huge line does not hold its memory
// forever.
const (
	keepSize   = 64 << 10 // bytes of a buffer
	keepBlocks = 1 << 10
)

func (p *painter) release() {
	if cap(p.buf) > keepSize || cap(p.decoded) > keepSize || cap(p.tag) > keepSize ||
		cap(p.fields) > keepSize || cap(p.blocks) > keepBlocks {
		return
	}
	p.view, p.record = nil, nib.Record{}
	painters.Put(p)
}
