// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"math"
	"reflect"
	"slices"

	"github.com/nib-log/nib/internal/jsonenc"
)

// masked replaces a secret value.
const masked = `"***"`

// fillStruct makes the operations of a struct.
func (m *maker) fillStruct(p *Plan, addr bool) {
	p.ops = []op{{code: codeEnd}} // used if there is a fault
	if p.typ.Type.Size() > math.MaxUint32 {
		p.props.bad = &Error{Err: errors.New("a struct of more than 4 GiB"), tag: true}
		return
	}
	p.table, p.props.bad = fieldsOf(p.typ.Type)
	if p.props.bad == nil {
		m.operations(p, p.table, 0, addr)
	}
}

// maxInline is the maximum number of operations of a struct that inlines the
// operations of a nested struct.
const maxInline = 128

// A weaver collects the operations of one struct. It holds constant text until
// an operation follows, which gets the text.
type weaver struct {
	*Plan
	text []byte
}

// operations makes the operations of p for fields, whose indexes lead from p's
// type beginning with their element at.
func (m *maker) operations(p *Plan, fields []Field, at int, addr bool) {
	w := weaver{Plan: p}
	p.ops, p.steps = nil, nil
	for len(fields) > 0 && p.props.bad == nil {
		f := fields[0]
		t, off := p.typ.Type, uintptr(0)
		// Walk to the field, or to an embedded pointer on the way to it.
		i := at
		for ; ; i++ {
			sf := t.Field(f.Index[i])
			t, off = sf.Type, off+sf.Offset
			if i == len(f.Index)-1 || t.Kind() == reflect.Pointer {
				break
			}
		}
		if i == len(f.Index)-1 {
			m.field(&w, f, uint32(off), addr)
			fields = fields[1:]
			continue
		}
		// Fields behind the same pointer are adjacent.
		n := 1
		for n < len(fields) && len(fields[n].Index) > i &&
			slices.Equal(fields[n].Index[:i+1], f.Index[:i+1]) {
			n++
		}
		part := &Plan{set: p.set, code: codeStruct, typ: goTypeOf(t.Elem())}
		m.parts = append(m.parts, part)
		m.operations(part, fields[:n], i+1, true)
		w.flush()
		w.add(op{code: codeEmbed, sub: part, off: uint32(off)}, "")
		p.props.bad = part.props.bad
		fields = fields[n:]
	}
	w.flush()
	w.add(op{code: codeEnd}, "")
}

// field adds the operation of one field or, if it is a struct, its operations.
func (m *maker) field(w *weaver, f Field, off uint32, addr bool) {
	step := "." + f.Path
	sub := m.plan(f.Type, addr)
	if f.Unit != "" {
		if sub = m.inUnit(sub, units[f.Unit]); sub == nil {
			w.props.bad = badTag(errUnit(f.Unit, f.Type), f.Path)
			return
		}
	}
	if f.Quoted {
		sub = m.inQuotes(sub)
	}
	o := op{sub: sub, off: off, code: codePlan}
	if never := w.setOmission(&o, f, addr); never {
		return
	}
	key := jsonenc.AppendKey(nil, f.Name)
	switch {
	case o.omit != omitNever:
		w.flush()
	case f.Masked || sub.code == codeMask:
		w.text = append(append(w.text, key...), masked...)
		return
	case sub.code == codeStruct && sub.props.bad == nil && sub.begins() &&
		len(w.ops)+len(sub.ops) <= maxInline:
		w.inline(sub, key, step, off)
		return
	}
	w.text = append(w.text, key...)
	switch {
	case f.Masked || sub.code == codeMask:
		o.code = codeConst
		w.text = append(w.text, masked...)
	case sub.code == codeString:
		o.code = codeString
		w.text = append(w.text, '"')
	case sub.code.hot():
		o.code = sub.code
	}
	w.add(o, step)
}

// begins reports whether the members of p always begin with the same one, or
// there are none. It is false for a struct whose operations are not complete
// yet, because it contains the calling struct through a pointer.
func (p *Plan) begins() bool {
	n := len(p.ops)
	if n == 0 || p.ops[n-1].code != codeEnd {
		return false
	}
	return n == 1 || p.ops[0].omit == omitNever && p.ops[0].code != codeEmbed
}

// inline adds the operations of a struct within this one, with its braces as
// parts of texts.
func (w *weaver) inline(sub *Plan, key []byte, step string, off uint32) {
	w.props.add(sub, "", false, true) // omissions may run code
	w.text = append(append(w.text, key...), '{')
	for i, o := range sub.ops[:len(sub.ops)-1] {
		text := o.text.String()
		if i == 0 {
			text = text[1:] // without the comma
		}
		if o.omit != omitNever || o.code == codeEmbed {
			w.flush()
		}
		w.text = append(w.text, text...)
		if o.code == codeConst && o.omit == omitNever {
			continue
		}
		o.off += off
		o.nest++
		w.add(o, step+sub.steps[i])
	}
	w.text = append(w.text, '}')
	w.Plan.inner = max(w.Plan.inner, sub.inner+1)
}

// add adds an operation after the collected text.
func (w *weaver) add(o op, step string) {
	o.text = jsonenc.MakeText(string(w.text))
	w.text = w.text[:0]
	w.ops = append(w.ops, o)
	w.steps = append(w.steps, step)
}

// flush turns the held text into an operation, because the next member may be
// left out, or the struct ends.
func (w *weaver) flush() {
	if len(w.text) > 0 {
		w.add(op{code: codeConst}, "")
	}
}

// inUnit returns the plan of a time.Duration, or of a pointer to one, in a
// unit; nil for any other type.
func (m *maker) inUnit(p *Plan, c code) *Plan {
	switch {
	case p.typ.Type == typeDuration:
		return m.variant(p, c, nil)
	case p.code == codePointer && p.elem.typ.Type == typeDuration:
		return m.variant(p, codePointer, m.variant(p.elem, c, nil))
	}
	return nil
}

// inQuotes returns the plan of a scalar, or of the target of a pointer, with
// the tag option string. Values that write themselves ignore it.
func (m *maker) inQuotes(p *Plan) *Plan {
	switch {
	case p.code >= codeString && p.code <= codeSpan:
		return m.variant(p, codeQuoted, p)
	case p.code == codePointer && p.typ.Type.Name() == "":
		if elem := m.inQuotes(p.elem); elem != p.elem {
			return m.variant(p, codePointer, elem)
		}
	}
	return p
}

// variant returns a plan for the type of p that differs from it.
func (m *maker) variant(p *Plan, c code, elem *Plan) *Plan {
	v := *p
	v.code, v.elem = c, elem
	m.parts = append(m.parts, &v)
	return &v
}
