// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"time"

	"github.com/nib-log/nib/internal/clock"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/internal/usercode"
)

// A Record is one finished line, with the properties that a sink may need
// without parsing it. Build Records with keyed literals; fields may be added.
type Record struct {
	Time    int64   // Unix nanoseconds, saturated outside 1678 to 2262; also for a line without one
	Level   Level   // LevelInfo for lines of Logger.Log, which show no level
	PC      uintptr // call site, 0 if not recorded
	Logger  string  // the name given by Named, or ""
	Message []byte  // the message as in Line, escaped, without its quotes; nil without a message
	Line    []byte  // one complete JSON object and its newline

	// Spool and Seq identify the record permanently once a spool has accepted
	// it; 0 before. Spool is a random number of the process that accepted it.
	Spool, Seq uint64
}

// Lookup finds the top-level field key and returns its value as raw JSON, a
// part of Line. Of several fields with the same key it finds the last.
func (r *Record) Lookup(key string) (json []byte, ok bool) { return jsonread.Lookup(r.Line, key) }

// Fields iterates over the top-level fields in the order of the line: the key
// as in Line, escaped and without its quotes, and the value as raw JSON. Both
// are parts of Line. The iteration stops at the first syntax error.
func (r *Record) Fields() iter.Seq2[[]byte, []byte] { return jsonread.Fields(r.Line) }

// A Sink writes finished lines.
//
// Any number of goroutines may call WriteRecord at the same time. During a call
// r and the bytes it refers to do not change, and Line is one valid JSON object
// followed by one newline.
//
// An implementation must not change r or its bytes, and must not keep them
// after it returns: the buffer goes back to a pool. If it returns nil, the line
// is where the documentation of the sink says: in the pipe, in the page cache,
// or in a buffer that Flush empties. If it returns an error, the line is lost;
// the logger counts it and calls its error handler. An implementation should
// not allocate, and must return within a bounded time.
//
// Two methods are optional. A Logger looks for them once, when it is made:
//
//	Flush(context.Context) error // returns when all lines accepted so far are written
//	Close() error                // called by the code that opened the sink, never by a Logger
type Sink interface {
	WriteRecord(r *Record) error
}

// A flusher is a Sink or an io.Writer that holds lines back until Flush.
type flusher interface {
	Flush(ctx context.Context) error
}

// WriterSink returns a Sink that writes to w as [New] does: one lock, one Write
// per line, the line written when the call returns. Sinks that combine others
// use it to accept writers.
func WriterSink(w io.Writer) Sink {
	if s, ok := w.(Sink); ok {
		return s
	}
	s := lineSink{Writer: linewriter.New(w)}
	t := contract.WritesLines
	if s.IsFile() {
		t = contract.NeverLogs
	}
	s.TraitSet = contract.TraitsFor(nil, t)
	return s
}

// A lineSink is the Sink that [New] makes from a plain io.Writer.
type lineSink struct {
	contract.TraitSet
	*linewriter.Writer
}

func (s lineSink) WriteRecord(r *Record) error {
	_, err := s.Write(r.Line, int(r.Level))
	return err
}

// An output is where a logger's lines go: either sink or discard is set, or
// neither in the logger of idle events.
type output struct {
	lines   *linewriter.Writer // the Writer of sink, if sink is a lineSink
	sink    Sink
	discard io.Writer // io.Discard, which needs no lock

	flusher   flusher // nil when nothing is held back
	neverLogs bool    // sink cannot call back into a logger

	textDurations bool // sink is for people, who want units
	writesLines   bool // sink writes to an io.Writer by package linewriter
}

// isWriting reports whether the caller was called by the io.Writer behind the
// sink, so that nothing can be written before the caller returns.
func (o *output) isWriting() bool { return o.writesLines && linewriter.Writing() }

// makesRecords reports whether the sink gets Records, and not only the bytes of
// lines.
func (o *output) makesRecords() bool { return o.lines == nil && o.sink != nil }

func sinkOutput(s Sink) output {
	if w, ok := s.(lineSink); ok {
		o := output{lines: w.Writer, sink: s, writesLines: true}
		if w.Flushes() {
			o.flusher = w
		}
		return o
	}
	t := contract.TraitsOf(s)
	o := output{
		sink: s, neverLogs: t&contract.NeverLogs != 0,
		textDurations: t&contract.TextDurations != 0, writesLines: t&contract.WritesLines != 0,
	}
	o.flusher, _ = s.(flusher)
	return o
}

// write writes the finished line of e. Most lines go to an io.Writer, by
// package linewriter, which has the lock and queues lines of a writer that
// logs.
func (c *core) write(e *Event) {
	var lost int
	var err error
	switch o := &c.out; {
	case o.lines != nil:
		lost, err = o.lines.Write(e.buf, int(e.level))
	case o.sink != nil && o.neverLogs:
		err = c.callSink(e.fill())
	case o.sink != nil:
		err = c.deliver(e)
	case o.discard != nil:
		_, err = o.discard.Write(e.buf)
	}
	if err != nil {
		c.reportLost(max(lost, 1), err)
	}
}

// While more than maxInside calls of a sink are active, deliver counts the
// calls on its own stack, and fails if there are more than maxReentry.
const (
	maxInside  = 16
	maxReentry = 8
)

// deliver writes the line to a sink that may log itself. There is no lock that
// would detect re-entry, so deliver counts calls, and inspects the stack only
// if more than usual are in progress.
//
//go:noinline
func (c *core) deliver(e *Event) error {
	inside := c.state.inside.Add(1)
	defer c.state.inside.Add(-1)
	if inside > maxInside && usercode.Frames((*core).deliver) > maxReentry {
		return linewriter.ErrReentrant
	}
	return c.callSink(e.fill())
}

// callSink passes a record to the sink, which may be user code.
func (c *core) callSink(r *Record) (err error) {
	done := false
	defer func() {
		if !done {
			if p := recover(); p != nil {
				orLost(c.state.lose, func() {
					err = fmt.Errorf("nib: the sink panicked: %s", usercode.PanicText(p))
				})
			} else {
				c.state.aborted.Add(1)
			}
		}
	}()
	err = c.out.sink.WriteRecord(r)
	done = true
	return err
}

// reportLost counts and reports lines that were not written.
func (c *core) reportLost(n int, err error) {
	count := &c.state.failed
	_, _ = callUser("the error of a sink", c.state.lose, func() {
		if errors.Is(err, linewriter.ErrReentrant) {
			count = &c.state.reentrant
		}
	})
	count.Add(uint64(n))
	c.report(err)
}

// fill fills the Record of the finished line.
func (e *Event) fill() *Record {
	sec, nsec := e.time()
	r := &e.record
	r.Time, r.Level, r.PC, r.Logger = unixNano(sec, nsec), e.level, 0, e.log.name
	r.Line, r.Message = e.buf, nil
	if e.flags&hasCaller != 0 {
		r.PC = e.pc
	}
	if e.flags&hasMessage != 0 {
		r.Message = e.buf[e.messageAt:e.messageEnd]
	}
	return r
}

// time reads the clock once for the line.
func (e *Event) time() (sec int64, nsec int32) {
	if e.flags&hasTime == 0 {
		if e.log.core.now != nil {
			e.setTime(e.readClock())
		} else {
			now := clock.Now()
			e.sec, e.nsec = now/1e9, int32(now%1e9)
			e.flags |= hasTime
		}
	}
	return e.sec, e.nsec
}

// readClock reads the clock of WithClock, and the system's clock if WithClock's
// fails.
func (e *Event) readClock() (t time.Time) {
	c := e.log.core
	if !c.callReported("the clock", e.abort, func() { t = c.now() }) {
		t = time.Now()
	}
	return t
}

// unixNano saturates outside the range of an int64.
func unixNano(sec int64, nsec int32) int64 {
	const last = math.MaxInt64 / 1_000_000_000
	switch {
	case sec >= last:
		return math.MaxInt64
	case sec <= -last:
		return math.MinInt64
	}
	return sec*1_000_000_000 + int64(nsec)
}

// flush calls the flusher, and waits no longer than ctx allows.
func (o *output) flush(ctx context.Context) error {
	f := o.flusher
	if f == nil {
		return nil
	}
	if o.isWriting() {
		return nil // the writer itself calls Flush; another goroutine would wait for its lock
	}
	if ctx.Done() == nil {
		return callFlush(ctx, f)
	}
	done := make(chan error, 1)
	go func() {
		err := errors.New("nib: Flush of the sink ended its goroutine")
		defer func() { done <- err }()
		err = callFlush(ctx, f)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		select {
		case err := <-done: // both were ready: prefer the result of the flush
			return err
		default:
			return fmt.Errorf("nib: flush: %w", context.Cause(ctx))
		}
	}
}

func callFlush(ctx context.Context, f flusher) (err error) {
	_, panicked := callUser("Flush of the sink", func() {}, func() { err = f.Flush(ctx) })
	return cmp.Or(panicked, err)
}

// abort counts the line as lost and makes the event idle for good, unless it is
// idle already. An event of Fatal still ends the process.
func (e *Event) abort() {
	if e.depth < 0 {
		return
	}
	e.log.core.state.lose()
	if e.depth > 0 {
		e.user.Leave()
	}
	e.depth, e.reservedBits = idle, allReserved
	e.log.act(e.flags&thenExit, "")
}

// act completes Panic or Fatal after the line, if then is not 0: it flushes,
// and then panics or ends the process.
func (l *Logger) act(then flags, msg string) {
	if then == 0 {
		return
	}
	l.flushFinal()
	if then&thenPanic != 0 {
		panic(msg)
	}
	lastresort.Flush()
	exit := l.core.exit
	if exit == nil {
		exit = os.Exit
	}
	exit(1)
}

// finalFlush is the time for which Panic and Fatal wait for sinks to flush.
const finalFlush = 5 * time.Second

// flushFinal flushes before the program may end.
func (l *Logger) flushFinal() {
	ctx, cancel := context.WithTimeout(context.Background(), finalFlush)
	defer cancel()
	if err := l.core.out.flush(ctx); err != nil {
		l.core.report(err)
	}
}
