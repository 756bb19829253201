// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"

	"github.com/nib-log/nib/internal/jsonenc"
)

// AppendAny appends v, whatever it is, as Append does. The value in v has no
// address, so methods with a pointer receiver do not count, unless v is a
// pointer. It allocates nothing for types for which Append allocates nothing.
func AppendAny(dst []byte, v any, st State) ([]byte, error) {
	return standard.AppendAny(dst, v, st)
}

// AppendAny is the function AppendAny in the style of the set.
func (s *Set) AppendAny(dst []byte, v any, st State) ([]byte, error) {
	out, err := s.appendAny(dst, v, st)
	if err != nil {
		return dst, err.of(reflect.TypeOf(v))
	}
	return out, nil
}

// appendAny appends the value in an interface. The most frequent types need no
// plan.
func (s *Set) appendAny(dst []byte, v any, st State) ([]byte, *Error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return jsonenc.AppendString(dst, v), nil
	case int:
		return jsonenc.AppendInt(dst, int64(v)), nil
	case float64:
		return jsonenc.AppendFloat64(dst, v), nil
	case bool:
		return jsonenc.AppendBool(dst, v), nil
	case int64:
		return jsonenc.AppendInt(dst, v), nil
	case map[string]any:
		return s.appendMapAny(dst, v, st)
	}
	typ, word := unpack(v)
	p := s.of(typ, v)
	if p.err != nil {
		return dst, p.fault()
	}
	if !p.typ.direct {
		return p.value(dst, word, st)
	}
	if p.props.shows {
		kept := new(pointer)
		*kept = word
		return p.value(dst, pointer(kept), st)
	}
	return p.value(dst, hideWord(&word), st)
}

// RunsCode reports whether AppendAny may run user code for v.
func (s *Set) RunsCode(v any) bool {
	typ, _ := unpack(v)
	return typ != nil && !s.of(typ, v).Plain()
}
