// SPDX-License-Identifier: Apache-2.0

// Package sample has small pieces of code of the kinds that hot paths are made
// of. Some allocate; which ones is measured by the test, on each Go release,
// and written down nowhere.
package sample

import (
	"io"
	"strconv"
	"sync"
)

// Event is a log event of the kind that comes from a pool.
type Event struct {
	buf []byte
	on  bool
}

var events = sync.Pool{New: func() any { return &Event{buf: make([]byte, 0, 500)} }}

func start(on bool) *Event {
	if !on {
		return nil
	}
	e := events.Get().(*Event)
	e.buf, e.on = e.buf[:0], on
	return e
}

func (e *Event) Str(k, v string) *Event {
	if e == nil {
		return e
	}
	e.buf = append(append(append(e.buf, k...), '='), v...)
	return e
}

func (e *Event) Int(k string, v int) *Event {
	if e == nil {
		return e
	}
	e.buf = strconv.AppendInt(append(append(e.buf, k...), '='), int64(v), 10)
	return e
}

func (e *Event) Any(k string, v any) *Event {
	if e == nil {
		return e
	}
	switch x := v.(type) {
	case int:
		return e.Int(k, x)
	case interface{ String() string }:
		return e.Str(k, x.String())
	}
	return e
}

func (e *Event) Msg(m string) {
	if e == nil {
		return
	}
	e.buf = append(append(e.buf, m...), '\n')
	out.Write(e.buf)
	events.Put(e)
}

// sink hides from the compiler what becomes of a value.
type sink struct{ n int }

func (s *sink) Write(p []byte) (int, error) { s.n += len(p); return len(p), nil }

func (s *sink) Take(args ...any) { s.n += len(args) }

func (s *sink) Fields(fs []Field) { s.n += len(fs) }

type taker interface{ Take(args ...any) }

type core interface{ Fields(fs []Field) }

// Field is a field of the kind that is passed by value.
type Field struct {
	Key string
	Num int
	Str string
}

var (
	concrete           = new(sink)
	out      io.Writer = concrete
	take     taker     = concrete
	fields   core      = concrete
	other    io.Writer = io.Discard
	anything any
	numbers  []int64
	texts    []string
	bytesOut []byte
	textOut  string
	numOut   int
	funcOut  func() int
	ptrOut   *int
	enabled  = true
	disabled = false
)

type stringer struct{ a, b int }

func (s stringer) String() string { return "s" }

// Swap is called nowhere here; it keeps the compiler from knowing the writers.
func Swap(w io.Writer, t taker, c core) { out, take, fields, other = w, t, c, w }
