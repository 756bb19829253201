// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/nib-log/nib/cmd/nib/internal/dirwatch"
	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
	"github.com/nib-log/nib/internal/logread"
)

// A Renderer writes lines in another form. Each goroutine has its own.
type Renderer interface {
	Append(dst []byte, l *logread.Line) []byte
}

// A Selection selects lines.
type Selection struct {
	Query   *logread.Query
	Context int            // number of lines before and after each match that are also shown
	Zone    *time.Location // the zone of times without one
	Keys    logread.Keys   // of the programs whose lines are read
	Limit   Limit          // for Cat
	// Report writes what Tail waits for or may have lost, unless it is nil.
	Report func(format string, args ...any)
	// More returns sources for Follow that have come since its last call,
	// unless it is nil; see Watch.
	More func() []Source
	// Poll is the interval at which live files are looked at, 0 for a tenth of
	// a second. New files and spools are looked for in each tenth look.
	Poll   time.Duration
	events *dirwatch.Watcher // nil if there is only the poll

	// Window has the range of times and levels that the query requires. Indexes
	// is a directory of indexes, with which lines outside the window are
	// skipped without reading them. Indexes of large files are made there. If
	// it is empty, all lines are read.
	Window  lineindex.Window
	Indexes string
}

// UseEvents makes Tail, Split, Watch and Follow look at files also when the
// system reports a change, until ctx ends. It is called before them.
func (s *Selection) UseEvents(ctx context.Context) {
	s.events = dirwatch.New(ctx, func(path string) string { return rotationOf(path).set })
}

// poll returns the interval between two looks.
func (s *Selection) poll() time.Duration { return cmp.Or(s.Poll, filePoll) }

func (s *Selection) report(format string, args ...any) {
	if s.Report != nil {
		s.Report(format, args...)
	}
}

// A Limit bounds what Cat writes. Zero is no bound. All lines are read in any
// case, so that those left out are counted.
type Limit struct {
	Lines  uint64 // selected lines
	Bytes  int
	Newest bool // the last lines are shown, not the first ones; for no Context
}

// isReached reports whether a selected line must be left out after others.
func (l Limit) isReached(lines uint64, bytes int) bool {
	return l.Lines > 0 && lines > l.Lines || l.Bytes > 0 && bytes > l.Bytes
}

// Counts counts the lines that were read.
type Counts struct {
	Lines   uint64
	Matched uint64
	Foreign uint64 // lines of text without a level and a time that the query did not select
	NoLevel uint64 // other lines that the query did not select only as they have no level
	NoTime  uint64 // the same for the time; a line without both counts as one without a level
	// Lines older than the one before them in the same source, where sources
	// are merged.
	Late   uint64
	Beyond uint64 // selected lines that a limit left out
	Around uint64 // lines around selected ones that a limit left out
	Holes  uint64 // NUL bytes before lines, which are skipped
}

func (c *Counts) add(d Counts) {
	c.Lines += d.Lines
	c.Matched += d.Matched
	c.Foreign += d.Foreign
	c.NoLevel += d.NoLevel
	c.NoTime += d.NoTime
	c.Late += d.Late
	c.Beyond += d.Beyond
	c.Around += d.Around
	c.Holes += d.Holes
}

// leaveOut counts a line that the query did not select.
func (c *Counts) leaveOut(l *logread.Line, q *logread.Query) {
	level, time := q.Lacks(l)
	isText := l.Format() == logread.FormatText
	switch {
	case isText && l.IsForeign():
		c.Foreign++
	case isText && level && l.IsDerived(): // the time is of the envelope
		c.Foreign++
	case level:
		c.NoLevel++
	case time:
		c.NoTime++
	}
}

// The size of blocks. Sources that are merged share memory.
const (
	blockSize    = 512 << 10
	leastBlock   = 16 << 10
	mergedBlocks = 64 << 20
)

// A block is a part of a source: whole lines, the selected ones of them, or the
// output.
type block struct {
	buf    []byte
	data   []byte // the lines, in buf
	out    []byte // scratch space for render functions
	spans  []span // without
	counts Counts
	err    error // set in the last block
	done   chan struct{}
}

// A span is a line of a block.
type span struct {
	from, end int
	time      int64 // Unix nanoseconds, or noTime
	matched   bool
}

const noTime = math.MinInt64

// nanosOf returns a time for merging: Unix nanoseconds, clamped to their range.
func nanosOf(t time.Time) int64 {
	switch year := t.Year(); {
	case year < 1678:
		return noTime + 1
	case year > 2261:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// A worker processes blocks.
type worker struct {
	line     logread.Line
	query    *logread.Query
	renderer Renderer // nil if only spans are wanted
	all      bool     // spans of lines that do not match, too
}

func (s *Selection) newWorker(renderer Renderer, all bool) *worker {
	w := &worker{query: s.Query, renderer: renderer, all: all}
	w.line.SetZone(s.Zone)
	w.line.Own = s.Keys
	return w
}

// process selects the lines of a block and renders them.
func (w *worker) process(b *block) {
	b.out, b.spans, b.counts = b.out[:0], b.spans[:0], Counts{}
	for from := 0; from < len(b.data); {
		n := logread.LineLen(b.data[from:])
		w.line.Reset(b.data[from : from+n])
		b.counts.Lines++
		b.counts.Holes += uint64(w.line.Holes())
		matched := w.query.Match(&w.line)
		if matched {
			b.counts.Matched++
		} else {
			b.counts.leaveOut(&w.line, w.query)
		}
		switch {
		case w.renderer != nil && matched:
			b.out = w.renderer.Append(b.out, &w.line)
		case w.renderer == nil && (matched || w.all):
			at := int64(noTime)
			if t, ok := w.line.Time(); ok {
				at = nanosOf(t)
			}
			b.spans = append(b.spans, span{from, from + n, at, matched})
		}
		from += n
	}
}

// A skipper is a reader that leaves out lines.
type skipper interface{ leftOut() Counts }

// A pipeline reads sources with several goroutines.
type pipeline struct {
	work chan *block
	wait sync.WaitGroup
	size int
	free sync.Pool
}

func newPipeline(ctx context.Context, size int, newWorker func() *worker) *pipeline {
	p := &pipeline{work: make(chan *block), size: size}
	p.free.New = func() any {
		return &block{buf: make([]byte, size), done: make(chan struct{}, 1)}
	}
	for range runtime.GOMAXPROCS(0) {
		p.wait.Go(func() {
			w := newWorker()
			for {
				select {
				case b := <-p.work:
					w.process(b)
					b.done <- struct{}{}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return p
}

// read sends the blocks of a source in order, and closes the channel. The last
// block has the error, if there was one.
func (p *pipeline) read(
	ctx context.Context, open func(context.Context) (io.ReadCloser, error), ahead int,
) <-chan *block {
	order := make(chan *block, ahead)
	go func() { // nothing waits for it: standard input cannot be interrupted
		defer close(order)
		r, err := open(ctx)
		if err != nil {
			p.send(ctx, order, &block{err: err, done: make(chan struct{}, 1)})
			return
		}
		defer r.Close() // only read
		stop := context.AfterFunc(ctx, func() { interrupt(r) })
		defer stop()
		var rest []byte
		for err == nil {
			b := p.free.Get().(*block)
			if size := max(p.size, 2*len(rest)); len(b.buf) < size {
				b.buf = make([]byte, size)
			}
			var next []byte
			b.data, next, err = logread.ReadBlock(r, b.buf, rest)
			rest = append(rest[:0], next...) // buf is used again
			if b.err = nil; err != io.EOF {
				b.err = err
			}
			if len(b.data) == 0 && b.err == nil {
				p.free.Put(b)
				continue
			}
			if !p.send(ctx, order, b) {
				return
			}
		}
		if s, ok := r.(skipper); ok && s.leftOut() != (Counts{}) {
			b := &block{counts: s.leftOut(), done: make(chan struct{}, 1)}
			b.done <- struct{}{}
			select {
			case order <- b:
			case <-ctx.Done():
			}
		}
	}()
	return order
}

// send gives a block to the workers, and to the reader of the results.
func (p *pipeline) send(ctx context.Context, order chan<- *block, b *block) bool {
	for work, order := p.work, order; work != nil || order != nil; {
		select {
		case work <- b:
			work = nil
		case order <- b:
			order = nil
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Cat writes the selected lines of the sources to w. Lines of several sources
// are merged by time. It returns the errors of all sources, joined, or the
// error of w.
func Cat(
	ctx context.Context, w io.Writer, sources []Source, s Selection, newRenderer func() Renderer,
) (total Counts, err error) {
	ctx, cancel := context.WithCancel(ctx)
	if s.Limit.Lines == 0 && s.Limit.Bytes == 0 {
		s.Limit.Newest = false // all lines are shown
	}
	if len(sources) != 1 || s.Context > 0 || s.Limit != (Limit{}) {
		size := min(max(mergedBlocks/(4*max(len(sources), 1)), leastBlock), blockSize)
		p := newPipeline(ctx, size, func() *worker { return s.newWorker(nil, s.Context > 0) })
		defer p.wait.Wait()
		defer cancel()
		m := newMerger(ctx, p, sources, &s)
		return m.write(w, newRenderer())
	}
	p := newPipeline(ctx, blockSize, func() *worker { return s.newWorker(newRenderer(), false) })
	defer p.wait.Wait()
	defer cancel()
	blocks := p.read(ctx, s.opener(sources[0]), 2*runtime.GOMAXPROCS(0))
	for {
		b := receive(ctx, blocks)
		if b == nil {
			break
		}
		total.add(b.counts)
		if b.err != nil {
			err = b.err
		}
		if len(b.out) > 0 {
			if _, err := w.Write(b.out); err != nil {
				return total, err
			}
		}
		p.free.Put(b)
	}
	return total, errors.Join(err, ctx.Err())
}

// receive returns the next block when a worker has processed it, and nil after
// the last one. A source that is stuck does not keep it from ending with ctx.
func receive(ctx context.Context, blocks <-chan *block) *block {
	select {
	case b, ok := <-blocks:
		if !ok {
			return nil
		}
		select {
		case <-b.done:
			return b
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return nil
}
