// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/plan"
)

// A Template writes lines of a fixed shape: a level, a message, and a struct
// whose fields are the columns. A call copies the whole struct into the line by
// a plan that is made once, which is the fastest way to write a line. The
// columns come in the order of the struct and are always there, unless their
// tags say omitempty or omitzero; package schema describes the tags, and makes
// a JSON Schema of the struct.
//
//	type access struct {
//		Method string        `json:"method"`
//		Status int           `json:"status"`
//		Took   time.Duration `json:"took_ms" log:"unit=ms"`
//	}
//
//	var served = nib.NewTemplate[access](nib.LevelInfo, "request served")
//
//	served.Log(ctx, log, &access{r.Method, status, took})
//
// A Template may be used by any number of goroutines and must not be copied.
// The zero Template writes nothing.
type Template[T any] struct {
	level Level
	msg   string
	plan  *plan.Plan
	form  atomic.Pointer[templateForm]
}

// A templateForm is a Template rendered for one layout. A program usually has
// one layout, so the last one used is cached.
type templateForm struct {
	format  *format
	plan    *plan.Plan // with the layout's durations and times
	clash   clash      // the reserved keys among the columns
	message string     // `,"message":"…"`; "" without a message
}

// NewTemplate makes a Template. It panics if T is not a struct, if a field
// cannot be encoded, or if a field holds a lock and is encoded by a method with
// a pointer receiver: Log copies *v, so make such a field a pointer.
func NewTemplate[T any](level Level, msg string) Template[T] {
	p := plan.For[T]()
	switch err := p.Err(); {
	case err != nil:
		panic("nib: NewTemplate: " + err.Error())
	case !p.IsStruct():
		panic(fmt.Sprintf("nib: NewTemplate[%v]: not a struct", p.Type()))
	case p.Locked():
		panic("nib: NewTemplate: " + lockedError(p).Error())
	}
	return Template[T]{level: level, msg: msg, plan: p}
}

// Log writes the line to l if the level is on, with the columns of v and the
// fields that [Event.Ctx] adds for ctx, which may be nil. v is not kept and may
// be on the stack. It never exits or panics. 0 allocs, but one for a T with
// methods that take part in the encoding.
//
//go:noinline
func (t *Template[T]) Log(ctx context.Context, l *Logger, v *T) {
	if l.belowMin(t.level) || !l.passes(t.level) || t.plan == nil {
		return
	}
	var pc uintptr
	if l.core.caller {
		if callsite.HasFast() {
			pc = callsite.Fast()
		} else {
			pc = callsite.PC(0)[0]
		}
	}
	e := l.begin(t.level, &beginOptions{pc: pc, msg: &t.msg})
	e.Ctx(ctx)
	from, form := len(e.buf), t.formFor(l.core.format)
	if v == nil {
		v = new(T)
	}
	st := (*parts)(e).state()
	if form.plan.Plain() {
		buf, err := plan.AppendFieldsAt(form.plan, e.buf, v, st)
		e.setFields(buf, err)
	} else {
		boxed := new(T)
		*boxed = *v
		e.setFields(e.marshal(func(dst []byte) ([]byte, error) {
			return plan.AppendFieldsAt(form.plan, dst, boxed, st)
		}))
	}
	if form.clash != 0 && e.reservedBits != noneReserved {
		e.renameReserved(from, form.clash)
	}
	if !e.log.plain || form.message == "" || e.flags&hasMessage != 0 {
		e.finish(t.msg, withMessage)
		return
	}
	at := len(e.buf) + len(form.format.messageKey)
	e.buf = append(e.buf, form.message...)
	e.markMessage(at)
	e.finish(t.msg, noMessage)
}

// formFor returns the form that the line has in a layout.
func (t *Template[T]) formFor(f *format) *templateForm {
	form := t.form.Load()
	if form == nil || form.format != f {
		form = &templateForm{format: f, plan: plan.ForIn[T](f.plans), clash: f.clashes(t.plan)}
		if f.messageKey != "" {
			form.message = string(jsonenc.AppendKeyString(nil, f.MessageKey, t.msg))
		}
		t.form.Store(form)
	}
	return form
}
