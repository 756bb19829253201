// SPDX-License-Identifier: Apache-2.0

// Package recordtest has the recorder for tests of this repository: a
// nibtest.Recorder whose calls can do what sinks and destinations of users do.
package recordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/nibtest"
)

// Epoch is the time of a zero nibtest.Clock.
var Epoch = new(nibtest.Clock).Now()

// A Recorder is a nibtest.Recorder that counts flushes and calls functions. The
// zero Recorder has none.
type Recorder struct {
	nibtest.Recorder

	mu      sync.Mutex // protects the fields below
	flushes int
	write   func(r *nib.Record) error
	flush   func(ctx context.Context) error
	answer  deliver
}

// deliver is the type of Deliver.
type deliver = func(ctx context.Context, batch []nib.Record) (delivery.Result, error)

// WriteWith makes WriteRecord call write first, and keep the record only if
// write returns nil. write may block, panic, or use the Recorder. nil restores
// the default.
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

// DeliverWith makes Deliver return the result of answer: a part of the batch, a
// rejection, an error, or nothing until its context is done. nil restores the
// default.
func (rec *Recorder) DeliverWith(answer deliver) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.answer = answer
}

// WriteRecord implements nib.Sink.
func (rec *Recorder) WriteRecord(r *nib.Record) error {
	rec.mu.Lock()
	write := rec.write
	rec.mu.Unlock()
	if write != nil {
		if err := write(r); err != nil {
			return err
		}
	}
	return rec.Recorder.WriteRecord(r)
}

// Deliver implements delivery.Destination. With DeliverWith it keeps the
// records that the function accepts.
func (rec *Recorder) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	rec.mu.Lock()
	answer := rec.answer
	rec.mu.Unlock()
	if answer == nil {
		return rec.Recorder.Deliver(ctx, batch)
	}
	if _, err := rec.Recorder.Deliver(ctx, nil); err != nil {
		return delivery.Result{}, err
	}
	res, err := answer(ctx, batch)
	for i := range batch[:min(max(res.Accepted, 0), len(batch))] {
		isIt := func(r delivery.Rejection) bool { return r.Index == i }
		if !slices.ContainsFunc(res.Rejected, isIt) {
			_ = rec.Recorder.WriteRecord(&batch[i])
		}
	}
	return res, err
}

// Flush counts the call, and returns the error of FailWith or of the function
// of FlushWith.
func (rec *Recorder) Flush(ctx context.Context) error {
	rec.mu.Lock()
	rec.flushes++
	flush := rec.flush
	rec.mu.Unlock()
	err := rec.Recorder.Flush(ctx)
	if err == nil && flush != nil {
		err = flush(ctx)
	}
	return err
}

// Flushes returns the number of calls of Flush.
func (rec *Recorder) Flushes() int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.flushes
}

// Last returns the line that arrived last, without its newline, or "".
func (rec *Recorder) Last() string {
	lines := rec.Lines()
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// Reset also clears flushes, and the functions of WriteWith, FlushWith and
// DeliverWith.
func (rec *Recorder) Reset() {
	rec.Recorder.Reset()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.flushes, rec.write, rec.flush, rec.answer = 0, nil, nil, nil
}

// Decode reads a line: exactly one JSON object followed by one newline. Of
// several fields with one key it keeps the last.
func Decode(line []byte) (fields map[string]any, err error) {
	if err = check(line); err == nil {
		err = json.Unmarshal(line, &fields)
	}
	return fields, err
}

// A Member is a key and a value of an object: nil, bool, string, json.Number,
// []any or []Member.
type Member struct {
	Key   string
	Value any
}

// Members is Decode for all fields of all objects, in the order of the line.
func Members(line []byte) ([]Member, error) {
	if err := check(line); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	members, _ := value(d).([]Member)
	return members, nil
}

// check checks that a line is one JSON object and one newline.
func check(line []byte) error {
	body, ended := bytes.CutSuffix(line, []byte{'\n'})
	switch {
	case !ended || bytes.IndexByte(body, '\n') >= 0:
		return errors.New("want one newline, at the end")
	case !json.Valid(body):
		return errors.New("the line is not JSON")
	case bytes.TrimLeft(body, " \t\r")[0] != '{':
		return errors.New("the line is not a JSON object")
	}
	return nil
}

// value reads the next value, which is valid.
func value(d *json.Decoder) any {
	t, _ := d.Token()
	switch t {
	case json.Delim('{'):
		object := []Member{}
		for d.More() {
			key, _ := d.Token()
			object = append(object, Member{key.(string), value(d)})
		}
		_, _ = d.Token()
		return object
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, value(d))
		}
		_, _ = d.Token()
		return list
	}
	return t
}

// A Seen is a line that was read back.
type Seen struct {
	N       *int
	Dropped uint64
	Levels  map[string]uint64
	Reasons map[string]uint64
	Pad     string
}

// Split splits a text into the lines with a field n, the notices, and the lines
// that are not JSON.
func Split(text string) (lines, notices []Seen, torn []string) {
	for line := range strings.Lines(text) {
		var s Seen
		switch err := json.Unmarshal([]byte(line), &s); {
		case err != nil || !strings.HasSuffix(line, "\n"):
			torn = append(torn, line)
		case s.N != nil:
			lines = append(lines, s)
		default:
			notices = append(notices, s)
		}
	}
	return lines, notices, torn
}
