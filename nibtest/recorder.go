// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

var (
	_ nib.Sink             = (*Recorder)(nil)
	_ delivery.Destination = (*Recorder)(nil)
	_ delivery.Flusher     = (*Recorder)(nil)
	_ delivery.Pinger      = (*Recorder)(nil)
)

// A Recorder is a sink, and a destination of a spool, that keeps a copy of
// every record, for tests:
//
//	var rec nibtest.Recorder
//	work(nib.NewSink(&rec))
//	if got := rec.Find("order placed")["total"]; got != 12.5 { … }
//
// The zero Recorder is empty and ready. It is safe for concurrent use and must
// not be copied. Results belong to the caller.
type Recorder struct {
	mu      sync.Mutex // protects the fields below
	records []nib.Record
	flushes int
	err     error
	closed  bool
	write   func(r *nib.Record) error
	flush   func(ctx context.Context) error
	answer  func(ctx context.Context, batch []nib.Record) (delivery.Result, error)
}

// WriteRecord keeps a copy of r, or returns the error of [Recorder.FailWith] or
// of the function of [Recorder.WriteWith]. It allocates the copy.
func (rec *Recorder) WriteRecord(r *nib.Record) error {
	rec.mu.Lock()
	write, err := rec.write, rec.fault()
	rec.mu.Unlock()
	if err == nil && write != nil {
		err = write(r)
	}
	if err != nil {
		return err
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.records = append(rec.records, clone(r))
	return nil
}

// fault returns why nothing is kept. rec.mu is held.
func (rec *Recorder) fault() error {
	if rec.closed {
		return fmt.Errorf("nibtest: %w", delivery.ErrClosed)
	}
	return rec.err
}

// Deliver keeps a copy of each record of batch, or returns the error of
// [Recorder.FailWith]. After [Recorder.DeliverWith] it keeps the records that
// the function accepts.
func (rec *Recorder) Deliver(ctx context.Context, batch []nib.Record) (res delivery.Result, err error) {
	rec.mu.Lock()
	answer, err := rec.answer, rec.fault()
	rec.mu.Unlock()
	switch {
	case err != nil:
		return res, err
	case answer != nil:
		res, err = answer(ctx, batch)
	case ctx.Err() != nil:
		return res, context.Cause(ctx)
	default:
		res.Accepted = len(batch)
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for i := range batch[:min(max(res.Accepted, 0), len(batch))] {
		if !slices.ContainsFunc(res.Rejected, func(r delivery.Rejection) bool { return r.Index == i }) {
			rec.records = append(rec.records, clone(&batch[i]))
		}
	}
	return res, err
}

// DeliverWith makes Deliver return the result of answer: a part of the batch, a
// rejection, an error, or nothing until its context is done. nil restores the
// default.
func (rec *Recorder) DeliverWith(answer func(ctx context.Context, batch []nib.Record) (delivery.Result, error)) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.answer = answer
}

// WriteWith makes WriteRecord call write first, and keep the record only if
// write returns nil. write may block or panic. nil restores the default.
func (rec *Recorder) WriteWith(write func(r *nib.Record) error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.write = write
}

// FlushWith makes Flush return the result of flush, which may block. nil
// restores the default.
func (rec *Recorder) FlushWith(flush func(ctx context.Context) error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.flush = flush
}

// Ping returns the error of FailWith.
func (rec *Recorder) Ping(context.Context) error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.fault()
}

// Close makes WriteRecord, Deliver and Ping fail with [delivery.ErrClosed]. The
// records stay. Reset opens the Recorder again.
func (rec *Recorder) Close() error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.closed = true
	return nil
}

// Flush counts the call, for [Recorder.Flushes], and returns the error of
// FailWith or of the function of [Recorder.FlushWith].
func (rec *Recorder) Flush(ctx context.Context) error {
	rec.mu.Lock()
	rec.flushes++
	flush, err := rec.flush, rec.err
	rec.mu.Unlock()
	if err == nil && flush != nil {
		err = flush(ctx)
	}
	return err
}

// FailWith makes WriteRecord, Deliver, Ping and Flush fail with err and keep
// nothing, until FailWith(nil).
func (rec *Recorder) FailWith(err error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.err = err
}

// Reset clears records, flushes, the error and the functions of WriteWith,
// FlushWith and DeliverWith.
func (rec *Recorder) Reset() {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.records, rec.flushes, rec.err, rec.closed = nil, 0, nil, false
	rec.write, rec.flush, rec.answer = nil, nil, nil
}

// Len returns the number of records.
func (rec *Recorder) Len() int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return len(rec.records)
}

// Flushes returns the number of calls of Flush.
func (rec *Recorder) Flushes() int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.flushes
}

// Records returns copies of all records in the order of their arrival.
func (rec *Recorder) Records() []nib.Record {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	out := make([]nib.Record, len(rec.records))
	for i := range rec.records {
		out[i] = clone(&rec.records[i])
	}
	return out
}

// Lines returns all lines in the order of their arrival, without their
// newlines.
func (rec *Recorder) Lines() []string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	out := make([]string, len(rec.records))
	for i := range rec.records {
		out[i] = text(&rec.records[i])
	}
	return out
}

// Last returns the line that arrived last, without its newline, or "".
func (rec *Recorder) Last() string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.records) == 0 {
		return ""
	}
	return text(&rec.records[len(rec.records)-1])
}

// Find returns the fields of the first line whose message is msg, or nil.
// Numbers are float64, as in encoding/json; beyond its range they are infinite.
func (rec *Recorder) Find(msg string) map[string]any {
	all := rec.FindAll(msg)
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// FindAll returns the fields of each line whose message is msg. It panics if
// such a line is not valid, so that no test ignores it.
func (rec *Recorder) FindAll(msg string) []map[string]any { return rec.findAll(msg, false) }

// findAll is FindAll; numbers are json.Number if exact.
func (rec *Recorder) findAll(msg string, exact bool) (found []map[string]any) {
	for _, r := range rec.Records() {
		if message(&r) != msg {
			continue
		}
		fields, err := decode(r.Line, exact)
		if err != nil {
			panic(fmt.Sprintf("nibtest: %v in %q", err, r.Line))
		}
		found = append(found, fields)
	}
	return found
}

// Decode reads a line: exactly one JSON object followed by one newline. Of
// several fields with one key it keeps the last.
func Decode(line []byte) (map[string]any, error) { return decode(line, false) }

// decode is Decode; numbers are json.Number if exact.
func decode(line []byte, exact bool) (map[string]any, error) {
	body, ended := bytes.CutSuffix(line, []byte{'\n'})
	if !ended {
		return nil, errors.New("the line does not end in a newline")
	}
	if bytes.IndexByte(body, '\n') >= 0 {
		return nil, errors.New("there is a newline within the line")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil {
		return nil, fmt.Errorf("the line is not a JSON object: %w", err)
	}
	if fields == nil {
		return nil, errors.New("the line is null, not a JSON object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is more than one JSON object in the line")
	}
	if !exact {
		toFloats(fields)
	}
	return fields, nil
}

// toFloats replaces each json.Number within v, and returns v or its
// replacement.
func toFloats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64) // infinite if it is out of range
		return f
	case []any:
		for i := range v {
			v[i] = toFloats(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = toFloats(v[key])
		}
	}
	return v
}

// clone copies r and its bytes.
func clone(r *nib.Record) nib.Record {
	c := *r
	c.Line, c.Message = bytes.Clone(r.Line), bytes.Clone(r.Message)
	return c
}

func text(r *nib.Record) string { return string(bytes.TrimSuffix(r.Line, []byte{'\n'})) }

// message returns the message as it was logged; in the line it is escaped.
func message(r *nib.Record) string {
	var s string
	if json.Unmarshal([]byte(`"`+string(r.Message)+`"`), &s) != nil {
		return string(r.Message)
	}
	return s
}
