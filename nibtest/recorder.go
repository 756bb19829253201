// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

var (
	_ nib.Sink             = (*Recorder)(nil)
	_ delivery.Destination = (*Recorder)(nil)
	_ delivery.Flusher     = (*Recorder)(nil)
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
	err     error
	closed  bool
}

// WriteRecord keeps a copy of r, or returns the error of [Recorder.FailWith].
// It allocates the copy.
func (rec *Recorder) WriteRecord(r *nib.Record) error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if err := rec.fault(); err != nil {
		return err
	}
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
// [Recorder.FailWith] or of ctx.
func (rec *Recorder) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	err := rec.fault()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return delivery.Result{}, err
	}
	for i := range batch {
		rec.records = append(rec.records, clone(&batch[i]))
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

// Close makes WriteRecord and Deliver fail with [delivery.ErrClosed]. The
// records stay. Reset opens the Recorder again.
func (rec *Recorder) Close() error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.closed = true
	return nil
}

// Flush returns the error of FailWith.
func (rec *Recorder) Flush(context.Context) error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.err
}

// FailWith makes WriteRecord, Deliver and Flush fail with err and keep nothing,
// until FailWith(nil).
func (rec *Recorder) FailWith(err error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.err = err
}

// Reset clears the records and the error, and opens the Recorder again.
func (rec *Recorder) Reset() {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.records, rec.err, rec.closed = nil, nil, false
}

// Len returns the number of records.
func (rec *Recorder) Len() int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return len(rec.records)
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

// decode reads a line: exactly one JSON object followed by one newline. Of
// several fields with one key it keeps the last. If exact, numbers are
// json.Number.
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
