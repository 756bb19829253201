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

// A Line is one kind of line, written often: its level, its message, and a
// struct whose fields are its columns. A call copies the whole struct into the
// line by a plan that is made once, which is the fastest way to write a line.
// The columns come in the order of the struct and are always there, unless
// their tags say omitempty or omitzero; package schema tells which tags there
// are, and makes a JSON Schema of the struct for those who read the lines.
//
//	type access struct {
//		Method string        `json:"method"`
//		Status int           `json:"status"`
//		Took   time.Duration `json:"took_ms" log:"unit=ms"`
//	}
//
//	var accessLine = nib.NewLine[access](nib.LevelInfo, "request served")
//
//	accessLine.Log(ctx, log, &access{r.Method, status, took})
//
// A Line may be used by any number of goroutines.
type Line[T any] struct {
	level Level
	msg   string
	plan  *plan.Plan
	form  atomic.Pointer[lineForm]
}

// A lineForm is what one layout makes of a Line. A program has one layout as a
// rule, so the last one used is kept.
type lineForm struct {
	format *format
	plan   *plan.Plan // with its durations and times
	clash  clash      // what the columns have of the keys that are reserved
	tail   string     // `,"message":"…"}` and a newline; "" without a message
}

// NewLine makes a kind of line. It panics if T is not a struct, or has a field
// that cannot be encoded.
func NewLine[T any](level Level, msg string) *Line[T] {
	p := plan.For[T]()
	if err := p.Err(); err != nil {
		panic("nib: NewLine: " + err.Error())
	}
	if !p.IsStruct() {
		panic(fmt.Sprintf("nib: NewLine[%v]: not a struct", p.Type()))
	}
	return &Line[T]{level: level, msg: msg, plan: p}
}

// Log writes the line with the columns of v to l if the level is on, and what
// [WithContextFields] takes from ctx, which may be nil. v is not kept and may lie
// on the stack. It never exits or panics. 0 allocs, but one for a T with methods
// that take part in the encoding.
//
//go:noinline
func (n *Line[T]) Log(ctx context.Context, l *Logger, v *T) {
	if l == nil || l.min > n.level || l.gated && !l.wants(n.level) {
		return
	}
	var pc uintptr
	if l.core.caller {
		if pc = callsite.Fast(); pc == 0 {
			pc = callsite.PC(0)[0]
		}
	}
	e := l.start(n.level, n.level, pc, &n.msg)
	if l.core.contextFields != nil {
		e.Ctx(ctx)
	}
	from, form := len(e.buf), n.formFor(l.core.format)
	if v == nil {
		v = new(T)
	}
	if form.plan.Plain() {
		buf, err := plan.AppendFieldsAt(form.plan, e.buf, v, maxDepth)
		e.setFields(buf, err)
	} else {
		kept := new(T)
		*kept = *v
		e.marshal(func(dst []byte) ([]byte, error) { return plan.AppendFieldsAt(form.plan, dst, kept, maxDepth) }, (*Event).setFields)
	}
	if form.clash != 0 && e.watched != 0 {
		e.settle(from, form.clash)
	}
	e.finishLine(n.msg, form)
}

// formFor gives the form that the line has in a layout.
func (n *Line[T]) formFor(f *format) *lineForm {
	form := n.form.Load()
	if form == nil || form.format != f {
		form = &lineForm{format: f, plan: plan.ForIn[T](f.plans), clash: f.clashes(n.plan)}
		if f.messageKey != "" {
			form.tail = string(jsonenc.AppendKeyString(nil, f.MessageKey, n.msg)) + "}\n"
		}
		n.form.Store(form)
	}
	return form
}

// finishLine is finish with a message that has been encoded already.
func (e *Event) finishLine(msg string, form *lineForm) {
	c := e.log.core
	if e.log.busyEnd || e.flags&muted != 0 || c.careful || form.tail == "" {
		e.finish(msg, true)
		return
	}
	from := len(e.buf) + len(c.format.messageKey)
	e.buf = append(e.buf, form.tail...)
	e.buf[0] = '{'
	e.flags |= hasMessage
	e.messageAt, e.messageEnd = from+1, len(e.buf)-len(`"}`+"\n")
	c.write(e)
	e.release()
}
