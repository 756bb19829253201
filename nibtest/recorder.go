// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nib-log/nib"
)

var _ nib.Sink = (*Recorder)(nil)

// A Recorder is a sink that keeps a copy of every record, for tests:
//
//	var rec nibtest.Recorder
//	work(nib.NewSink(&rec))
//	if got := rec.Find("order placed")["total"]; got != 12.5 { … }
//
// The zero Recorder is empty and ready. It is safe for concurrent use and must
// not be copied. What it returns belongs to the caller.
type Recorder struct {
	mu      sync.Mutex // protects all below
	records []nib.Record
	flushes int
	err     error
}

// WriteRecord keeps a copy of r, or returns the error of [Recorder.FailWith].
// It allocates the copy.
func (rec *Recorder) WriteRecord(r *nib.Record) error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.err != nil {
		return rec.err
	}
	rec.records = append(rec.records, clone(r))
	return nil
}

// Flush counts the call, for [Recorder.Flushes], and returns the error of
// FailWith.
func (rec *Recorder) Flush(context.Context) error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.flushes++
	return rec.err
}

// NeverLogs tells nib that WriteRecord does not call back into a logger.
func (rec *Recorder) NeverLogs() bool { return true }

// FailWith makes each WriteRecord and Flush from now on fail with err, and
// keep nothing; nil ends that.
func (rec *Recorder) FailWith(err error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.err = err
}

// Reset forgets records, flushes and the error.
func (rec *Recorder) Reset() {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.records, rec.flushes, rec.err = nil, 0, nil
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
// Numbers are float64, as encoding/json has it.
func (rec *Recorder) Find(msg string) map[string]any {
	all := rec.FindAll(msg)
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// FindAll returns the fields of each line whose message is msg. It panics when
// such a line is not valid: no test should pass over that.
func (rec *Recorder) FindAll(msg string) (found []map[string]any) {
	for _, r := range rec.Records() {
		if message(&r) != msg {
			continue
		}
		fields, err := Decode(r.Line)
		if err != nil {
			panic(fmt.Sprintf("nibtest: %v in %q", err, r.Line))
		}
		found = append(found, fields)
	}
	return found
}

// Decode reads a line: exactly one JSON object followed by one newline. Of
// several fields with one key it keeps the last.
func Decode(line []byte) (map[string]any, error) {
	body, ended := bytes.CutSuffix(line, []byte{'\n'})
	if !ended {
		return nil, errors.New("the line does not end in a newline")
	}
	if bytes.IndexByte(body, '\n') >= 0 {
		return nil, errors.New("there is a newline within the line")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
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
	return fields, nil
}

// clone copies r and its bytes.
func clone(r *nib.Record) nib.Record {
	c := *r
	c.Line, c.Message = bytes.Clone(r.Line), bytes.Clone(r.Message)
	return c
}

func text(r *nib.Record) string { return string(bytes.TrimSuffix(r.Line, []byte{'\n'})) }

// message gives the message as it was logged; it stands escaped in the line.
func message(r *nib.Record) string {
	var s string
	if json.Unmarshal([]byte(`"`+string(r.Message)+`"`), &s) != nil {
		return string(r.Message)
	}
	return s
}
