// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// hides reports whether r, which receiver has returned, is a secret in an
// interface or a pointer to one: its type is not known before.
func (p *Plan) hides(r any) bool {
	if p.typ.kind != reflect.Interface {
		return false
	}
	typ, _ := unpack(r)
	return p.set.of(typ, r).Pointee().code == codeMask
}

// callJSON appends the result of MarshalJSON, checked and on one line.
func (p *Plan) callJSON(dst []byte, v pointer, st State) ([]byte, *Error) {
	r := p.typ.receiver(v)
	if r == nil {
		return append(dst, "null"...), nil
	}
	if p.hides(r) {
		return p.set.appendAny(dst, r, st)
	}
	text, err := r.(json.Marshaler).MarshalJSON()
	if err == nil {
		var out []byte
		if out, err = jsonread.AppendCompact(dst, text, st.Depth); err == nil {
			return out, nil
		}
	}
	return dst, failure(&json.MarshalerError{Type: p.typ.Type, Err: err})
}

// callText appends the result of MarshalText as a string.
func (p *Plan) callText(dst []byte, v pointer, st State) ([]byte, *Error) {
	r := p.typ.receiver(v)
	if r == nil {
		return append(dst, "null"...), nil
	}
	if p.hides(r) {
		return p.set.appendAny(dst, r, State{Line: st.Line})
	}
	text, err := r.(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return dst, failure(&textError{p.typ.Type, err})
	}
	return jsonenc.AppendBytes(dst, text), nil
}

// A textError is an error of MarshalText. The corresponding type of
// encoding/json cannot be created outside of that package.
type textError struct {
	typ reflect.Type
	err error
}

func (e *textError) Error() string {
	return "json: error calling MarshalText for type " + e.typ.String() + ": " + e.err.Error()
}

func (e *textError) Unwrap() error { return e.err }
