// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"sync"

	"github.com/nib-log/nib/pool"
)

// bufferSize is the initial capacity of the buffer of an event.
const bufferSize = 500

// A text is the common part of the three kinds of event. The kinds are separate
// types because the compiler decides for all uses of a variable together
// whether it must be on the heap.
type text struct {
	w   io.Writer
	buf []byte
}

func (t *text) begin(w io.Writer) {
	t.w = w
	t.buf = append(t.buf[:0], '{')
}

func (t *text) field(key, value string) {
	t.buf = append(t.buf, '"')
	t.buf = append(t.buf, key...)
	t.buf = append(t.buf, '"', ':', '"')
	t.buf = append(t.buf, value...)
	t.buf = append(t.buf, '"', ',')
}

func (t *text) end(msg string) {
	t.field("message", msg)
	t.buf[len(t.buf)-1] = '}'
	_, _ = t.w.Write(t.buf)
	t.w = nil
}

// A line is an event of any kind, behind an interface.
type line interface {
	str(key, value string) line
	msg(msg string)
}

// disabled is the line of a disabled logger. Loggers that return pointers
// return nil instead.
type disabled struct{}

func (disabled) str(string, string) line { return disabled{} }
func (disabled) msg(string)              {}

// A fresh event has no pool.
type fresh struct{ text }

func newFresh(w io.Writer) *fresh {
	e := &fresh{text{buf: make([]byte, 0, bufferSize)}}
	e.begin(w)
	return e
}

func (e *fresh) Str(key, value string) *fresh {
	if e != nil {
		e.field(key, value)
	}
	return e
}

func (e *fresh) Msg(msg string) {
	if e != nil {
		e.end(msg)
	}
}

func (e *fresh) str(key, value string) line { return e.Str(key, value) }
func (e *fresh) msg(msg string)             { e.Msg(msg) }

// A recycled event goes back to sync.Pool.
type recycled struct{ text }

var recycledPool = sync.Pool{New: func() any { return &recycled{text{buf: make([]byte, 0, bufferSize)}} }}

func newRecycled(w io.Writer) *recycled {
	e := recycledPool.Get().(*recycled)
	e.begin(w)
	return e
}

func (e *recycled) Str(key, value string) *recycled {
	if e != nil {
		e.field(key, value)
	}
	return e
}

func (e *recycled) Msg(msg string) {
	if e != nil {
		e.end(msg)
		recycledPool.Put(e)
	}
}

func (e *recycled) str(key, value string) line { return e.Str(key, value) }
func (e *recycled) msg(msg string)             { e.Msg(msg) }

// A pooled event goes back to nib's pool.
type pooled struct{ text }

var pooledPool = pool.New(func() *pooled { return &pooled{text{buf: make([]byte, 0, bufferSize)}} })

func newPooled(w io.Writer) *pooled {
	e := pooledPool.Get()
	e.begin(w)
	return e
}

func (e *pooled) Str(key, value string) *pooled {
	if e != nil {
		e.field(key, value)
	}
	return e
}

func (e *pooled) Msg(msg string) {
	if e != nil {
		e.end(msg)
		pooledPool.Put(e)
	}
}

func (e *pooled) str(key, value string) line { return e.Str(key, value) }
func (e *pooled) msg(msg string)             { e.Msg(msg) }
