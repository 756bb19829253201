// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// appendNumber appends a json.Number.
func appendNumber(dst []byte, s string) ([]byte, *Error) {
	if s == "" {
		s = "0" // the text that encoding/json uses
	}
	if !isNumber(s) {
		return dst, failure(fmt.Errorf("json: invalid number literal %q", s))
	}
	return append(dst, s...), nil
}

// isNumber reports whether s is a number in JSON. If it begins with a digit or
// a sign and ends with a digit, a JSON value is a number without space around
// it.
func isNumber(s string) bool {
	first, last := s[0], s[len(s)-1]
	return (first == '-' || first-'0' <= 9) && last-'0' <= 9 && jsonread.Valid(viewBytes(s))
}

// appendRaw appends a json.RawMessage.
func appendRaw(dst, text []byte, st State) ([]byte, *Error) {
	if text == nil {
		return append(dst, "null"...), nil
	}
	out, err := jsonread.AppendCompact(dst, text, st.Depth)
	if err != nil {
		return dst, failure(&json.MarshalerError{Type: typeRaw, Err: err})
	}
	return out, nil
}

// isAddress reports whether t is a type of the standard library whose text can
// be appended: that saves the copy that MarshalText returns, and runs no user
// code. The name of a type, unlike the type itself, does not keep its methods
// in each program.
func isAddress(t reflect.Type) bool {
	switch t.PkgPath() {
	case "net":
		return t.Name() == "IP"
	case "net/netip":
		return t.Name() == "Addr" || t.Name() == "AddrPort" || t.Name() == "Prefix"
	}
	return false
}

// address appends the text of the value at v, which is one (see isAddress).
func (p *Plan) address(dst []byte, v pointer) ([]byte, *Error) {
	start := len(dst)
	dst, err := pack(p.typ.toSelf, v).(encoding.TextAppender).AppendText(append(dst, '"'))
	if err != nil {
		return dst, failure(&textError{p.typ.Type, err})
	}
	if text := dst[start+1:]; jsonenc.CleanLen(text) < len(text) { // a zone may hold any text
		return jsonenc.AppendBytes(dst[:start], bytes.Clone(text)), nil
	}
	return append(dst, '"'), nil
}

// appendTime appends the time at v as its method MarshalJSON does, which also
// returns the error for a time that RFC 3339 cannot represent.
func appendTime(dst []byte, v pointer) ([]byte, *Error) {
	if out, ok := jsonenc.AppendRFC3339(dst, (*time.Time)(v)); ok {
		return out, nil
	}
	text, err := load[time.Time](v).MarshalJSON()
	if err != nil {
		return dst, failure(&json.MarshalerError{Type: typeTime, Err: err})
	}
	return append(dst, text...), nil
}
