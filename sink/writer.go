// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/logread"
)

// A WriterConfig configures a [Writer]. The zero value is usable.
type WriterConfig struct {
	// Level returns the level of a line, which ends with a newline, for sinks
	// that treat levels differently. It must not keep line. Defaults to the level
	// that the line shows, as JSON, logfmt or text, and LevelInfo if it shows
	// none.
	Level func(line []byte) nib.Level

	// OnError is called with the error of each line that the Sink refuses. It
	// must not log through the Writer. By default errors are written to standard
	// error, at most one line a second.
	OnError func(error)
}

// A Writer is an io.Writer over a [nib.Sink]: it gives other loggers the
// rotation of sink/file, the delivery of sink/spool, or a standard output that
// never blocks. Package log, log/slog, logrus, zerolog and, by Sync, zap write
// to it:
//
//	log.SetOutput(sink.NewWriter(s, sink.WriterConfig{}))
//
// It is safe for concurrent use if the Sink is, does not allocate per line, and
// has no lock. It does not close the Sink.
type Writer struct {
	to      nib.Sink
	flusher delivery.Flusher // nil if to holds nothing back
	level   func(line []byte) nib.Level
	onError func(error)
	timed   bool // records have a time
}

var _ io.Writer = (*Writer)(nil)

// NewWriter returns a Writer to s. It panics if s is nil.
func NewWriter(s nib.Sink, c WriterConfig) *Writer {
	if s == nil {
		panic("nib/sink: NewWriter with a nil Sink")
	}
	timed := contract.TraitsOf(s)&contract.IgnoresTime == 0
	w := &Writer{to: s, level: c.Level, onError: c.OnError, timed: timed}
	if w.onError == nil {
		w.onError = lastresort.Report
	}
	w.flusher, _ = s.(delivery.Flusher)
	return w
}

// A written is the state of one call of Write.
type written struct {
	record nib.Record
	line   logread.Line
	ended  []byte // a copy of a line without a newline, with one
}

var writtenPool = sync.Pool{New: func() any { return new(written) }}

// maxEnded is the size above which the copy of a line is not kept.
const maxEnded = 64 << 10

// Write writes each line in p as a record. A line is kept as it is, whether it
// is JSON or not; the last one gets a newline if it lacks one. Write always
// returns len(p) and nil, because zap, zerolog and logrus print an error of
// their output to os.Stderr, where a stopped reader would block them and a
// closed pipe would kill the process. The error of a line that the Sink refuses
// goes to WriterConfig.OnError, and the other lines are written.
func (w *Writer) Write(p []byte) (n int, err error) {
	x := writtenPool.Get().(*written)
	var now int64
	if w.timed {
		now = time.Now().UnixNano()
	}
	for rest := p; len(rest) > 0; {
		size := bytes.IndexByte(rest, '\n') + 1
		line := rest[:size]
		if size == 0 {
			size = len(rest)
			x.ended = append(append(x.ended[:0], rest...), '\n')
			line = x.ended
		}
		rest = rest[size:]
		x.record = nib.Record{Time: now, Level: w.levelOf(x, line), Line: line}
		if err := w.to.WriteRecord(&x.record); err != nil {
			w.onError(err)
		}
	}
	x.record.Line = nil
	if cap(x.ended) <= maxEnded { // otherwise, or after a panic, x is left to the garbage collector
		writtenPool.Put(x)
	}
	return len(p), nil
}

func (w *Writer) levelOf(x *written, line []byte) nib.Level {
	if w.level != nil {
		return w.level(line)
	}
	if level, ok := leadingLevel(line); ok {
		return level
	}
	x.line.Reset(line)
	level, _ := x.line.Level()
	x.line.Reset(nil) // keeps no line
	return level      // LevelInfo is 0
}

// leadingLevel returns the level of a line in the default form of zap, zerolog,
// slog, phuslu/log and nib, as package logread would: level is the first key,
// or the second after time.
func leadingLevel(line []byte) (level nib.Level, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"level":"`))
	if !ok {
		if rest, ok = bytes.CutPrefix(line, []byte(`{"time":"`)); !ok {
			return 0, false
		}
		_, rest, _ = bytes.Cut(rest, []byte{'"'})
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"level":"`)); !ok {
			return 0, false
		}
	}
	name, _, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return 0, false
	}
	switch string(name) {
	case "info", "INFO":
		return nib.LevelInfo, true
	case "debug", "DEBUG":
		return nib.LevelDebug, true
	case "warn", "WARN", "warning":
		return nib.LevelWarn, true
	case "error", "ERROR":
		return nib.LevelError, true
	}
	return 0, false
}

// syncTimeout is the time for which Sync waits. A caller such as zap has no
// context, and syncs before it ends the process.
const syncTimeout = 5 * time.Second

// Sync flushes the Sink, and waits up to five seconds.
func (w *Writer) Sync() error {
	if w.flusher == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	return w.flusher.Flush(ctx)
}
