// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"io"
	"iter"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/linewriter"
)

// A Record is one finished line, with the properties that a sink may need
// without parsing it. Build Records with keyed literals; fields may be added.
type Record struct {
	Time    int64   // Unix nanoseconds, saturated outside 1678 to 2262; set also when the line does not show it
	Level   Level   // LevelInfo for lines of Logger.Log, which show no level
	PC      uintptr // call site, 0 if it was not taken
	Logger  string  // the name given by Named, "" without
	Message []byte  // the message as in Line, escaped, without its quotes; nil without a message
	Line    []byte  // one complete JSON object and its newline

	// Spool and Seq identify the record permanently once a spool has accepted
	// it; 0 before.
	Spool, Seq uint64
}

// Lookup finds the top-level field key and returns its value as raw JSON, a
// part of Line. Of several fields with the same key it finds the last.
func (r *Record) Lookup(key string) (json []byte, ok bool) {
	return jsonread.Lookup(r.Line, key)
}

// Fields iterates over the top-level fields in the order of the line: the key
// as in Line, escaped and without its quotes, and the value as raw JSON. Both
// are parts of Line. A Line that is not a JSON object ends the iteration where
// it stops being one.
func (r *Record) Fields() iter.Seq2[[]byte, []byte] {
	return jsonread.Fields(r.Line)
}

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

// WriterSink makes a Sink of an io.Writer as [New] does: one lock, one Write
// per line, the line written when the call returns. Sinks that combine others
// use it to accept writers.
func WriterSink(w io.Writer) Sink {
	if s, ok := w.(Sink); ok {
		return s
	}
	s := lineSink{Writer: linewriter.New(w)}
	if s.IsFile() {
		s.TraitSet = contract.TraitsFor(nil, contract.NeverLogs)
	}
	return s
}

// A lineSink is the Sink that [New] makes of a plain io.Writer.
type lineSink struct {
	contract.TraitSet
	*linewriter.Writer
}

func (s lineSink) WriteRecord(r *Record) error {
	_, err := s.Write(r.Line, int(r.Level))
	return err
}
