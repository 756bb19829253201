// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"io"
	"iter"

	"github.com/nib-log/nib/internal/jsonscan"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/internal/sinktraits"
)

// A Record is one finished line and what a sink may want to know of it without
// reading it. Build Records with keyed literals; fields may be added.
type Record struct {
	Time    int64   // Unix nanoseconds, saturated outside 1678 to 2262; set also when the line does not show it
	Level   Level   // LevelInfo for lines of Logger.Log, which show no level
	PC      uintptr // call site, 0 if it was not taken
	Logger  string  // the name given by Named, "" without
	Message []byte  // the message as it stands in Line, escaped, without its quotes; nil without a message
	Line    []byte  // one complete JSON object and its newline

	// Spool and Seq identify the record for ever once a spool has taken it; 0 before.
	Spool, Seq uint64
}

// Lookup finds the top-level field key and returns its value as raw JSON,
// which lies within Line. Of several fields with the same key it finds the last.
func (r *Record) Lookup(key string) (json []byte, ok bool) {
	return jsonscan.Lookup(r.Line, key)
}

// Fields iterates over the top-level fields in the order of the line: the key
// as it stands there, escaped and without its quotes, and the value as raw
// JSON. Both lie within Line. A Line that is not a JSON object ends the
// iteration where it stops being one.
func (r *Record) Fields() iter.Seq2[[]byte, []byte] {
	return jsonscan.Fields(r.Line)
}

// A Sink takes finished lines.
//
// A caller of WriteRecord guarantees that r and the bytes it refers to do not
// change during the call, that Line is one valid JSON object followed by one
// newline, and nothing about concurrency: any number of goroutines may call at
// the same time.
//
// An implementation must not change r or its bytes and must not keep them after
// it has returned: the buffer goes back to a pool. When it returns nil, the
// line has reached what the sink promises in its documentation (the pipe, the
// page cache, a buffer that Flush empties). An error means that the line is
// lost to this sink; the logger counts it and tells its error handler. An
// implementation should not allocate, and must not block for ever.
//
// Richer abilities are optional and found once, when the logger is made:
//
//	Flush(context.Context) error // bring everything accepted so far to the sink's promise
//	Close() error                // called by whoever opened the sink, never by a Logger
type Sink interface {
	WriteRecord(r *Record) error
}

// flusher is the optional ability of a Sink or an io.Writer to bring what it
// holds back to its promise.
type flusher interface {
	Flush(ctx context.Context) error
}

// WriterSink makes a Sink of an io.Writer as [New] does: one lock, one Write
// per line, the line written when the call returns. Sinks that combine others
// take writers through it.
func WriterSink(w io.Writer) Sink {
	if s, ok := w.(Sink); ok {
		return s
	}
	s := lineSink{Writer: linewriter.New(w)}
	if s.IsFile() {
		s.traits = sinktraits.For(nil, sinktraits.NeverLogs)
	}
	return s
}

// A lineSink is the Sink that [New] makes of a plain io.Writer.
type lineSink struct {
	traits
	*linewriter.Writer
}

type traits = sinktraits.Set

func (s lineSink) WriteRecord(r *Record) error {
	_, err := s.Write(r.Line, int(r.Level))
	return err
}
