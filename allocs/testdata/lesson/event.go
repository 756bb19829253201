// SPDX-License-Identifier: Apache-2.0

// Package lesson makes one log event in several ways.
package lesson

import (
	"fmt"
	"io"
	"strconv"
	"sync"
)

// An Event collects the fields of a line.
type Event struct {
	buf  [64]byte
	used int
}

// Int adds a field.
func (e *Event) Int(key string, n int) *Event {
	line := append(append(e.buf[:e.used], key...), '=')
	e.used = len(strconv.AppendInt(line, int64(n), 10))
	return e
}

// Any adds a field whose type is not known.
func (e *Event) Any(key string, v any) *Event {
	line := append(append(e.buf[:e.used], key...), '=')
	e.used = len(fmt.Append(line, v))
	return e
}

// A Screen is a destination.
type Screen struct{ shown int }

func (s *Screen) Write(line []byte) (int, error) {
	s.shown += len(line)
	return len(line), nil
}

// Fresh makes an event and writes it to a known type.
func Fresh(s *Screen, n int) {
	var e Event
	e.Int("items", n)
	s.Write(e.buf[:e.used])
}

// Interface makes an event and writes it to an interface.
func Interface(w io.Writer, n int) {
	var e Event
	e.Int("items", n)
	w.Write(e.buf[:e.used])
}

var events = sync.Pool{New: func() any { return new(Event) }}

// Pooled takes the event from a pool.
func Pooled(w io.Writer, n int) {
	e := events.Get().(*Event)
	e.used = 0
	e.Int("items", n)
	w.Write(e.buf[:e.used])
	events.Put(e)
}

// Boxed passes the number as an any.
func Boxed(w io.Writer, n int) {
	e := events.Get().(*Event)
	e.used = 0
	e.Any("items", n)
	w.Write(e.buf[:e.used])
	events.Put(e)
}

var copies = sync.Pool{New: func() any { return Event{} }}

// Copied keeps values in the pool instead of pointers.
func Copied(w io.Writer, n int) {
	e := copies.Get().(Event)
	e.used = 0
	e.Int("items", n)
	w.Write(e.buf[:e.used])
	copies.Put(e)
}

var calls int

// Seldom makes an event in one of ten calls, and else takes it from the pool.
func Seldom(w io.Writer, n int) {
	if calls++; calls%10 == 0 {
		Interface(w, n)
	} else {
		Pooled(w, n)
	}
}
