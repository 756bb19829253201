// SPDX-License-Identifier: Apache-2.0

package nibzap

import (
	"fmt"
	"math"
	"time"

	"github.com/nib-log/nib"
	"go.uber.org/zap/zapcore"
)

// finalFlush is the time for which nib's own Panic and Fatal wait.
const finalFlush = 5 * time.Second

// errorKey is the key of zap.Error.
const errorKey = "error"

// bind returns l with fields bound. A namespace is a group for all further
// fields.
func bind(l *nib.Logger, fields []zapcore.Field) *nib.Logger {
	from := 0
	for i := range fields {
		switch f := &fields[i]; f.Type {
		case zapcore.NamespaceType:
			l = l.With(func(e *nib.Event) { addFields(e, fields[from:i]) }).WithGroup(f.Key)
			from = i + 1
		case zapcore.InlineMarshalerType:
			var o object
			l = l.With(func(e *nib.Event) {
				addFields(e, fields[from:i])
				o.inline(e, f)
			})
			for _, s := range o.spaces {
				l = l.WithGroup(s.key).With(func(e *nib.Event) { e.Fields(s.all()) })
			}
			from = i + 1
		}
	}
	return l.With(func(e *nib.Event) { addFields(e, fields[from:]) })
}

// addFields adds fields to a line or an object, those after a namespace to a
// nested object.
func addFields(e *nib.Event, fields []zapcore.Field) {
	for i := range fields {
		switch f := &fields[i]; f.Type {
		case zapcore.NamespaceType:
			e.Dict(f.Key, func(e *nib.Event) { addFields(e, fields[i+1:]) })
			return
		case zapcore.InlineMarshalerType:
			o := objects.Get().(*object)
			o.inline(e, f)
			if spaces := o.free(); spaces != nil {
				addSpaces(e, spaces, fields[i+1:])
				return
			}
		default:
			addField(e, f)
		}
	}
}

// addSpaces adds nested objects, the innermost with fields at its end.
func addSpaces(e *nib.Event, spaces []space, fields []zapcore.Field) {
	if len(spaces) == 0 {
		addFields(e, fields)
		return
	}
	e.Dict(spaces[0].key, func(e *nib.Event) {
		e.Fields(spaces[0].all())
		addSpaces(e, spaces[1:], fields)
	})
}

// addField adds one field that stays at its level. The most frequent types come
// first.
func addField(e *nib.Event, f *zapcore.Field) {
	switch f.Type {
	case zapcore.StringType:
		e.Str(f.Key, f.String)
	case zapcore.Int64Type, zapcore.Int32Type, zapcore.Int16Type, zapcore.Int8Type:
		e.Int64(f.Key, f.Integer)
	case zapcore.BoolType:
		e.Bool(f.Key, f.Integer == 1)
	case zapcore.DurationType:
		e.Dur(f.Key, time.Duration(f.Integer))
	case zapcore.Float64Type:
		e.Float64(f.Key, math.Float64frombits(uint64(f.Integer)))
	case zapcore.Float32Type:
		e.Float32(f.Key, math.Float32frombits(uint32(f.Integer)))
	case zapcore.Uint64Type, zapcore.Uint32Type, zapcore.Uint16Type, zapcore.Uint8Type,
		zapcore.UintptrType:
		e.Uint64(f.Key, uint64(f.Integer))
	case zapcore.TimeType:
		t := time.Unix(0, f.Integer)
		if loc, ok := f.Interface.(*time.Location); ok && loc != nil {
			t = t.In(loc)
		}
		e.Time(f.Key, t)
	case zapcore.SkipType:
	default:
		addOther(e, f)
	}
}

// addOther adds a field whose value is an interface. A value of the wrong type,
// for which zap panics, is added unchanged.
func addOther(e *nib.Event, f *zapcore.Field) {
	switch v := f.Interface.(type) {
	case time.Time:
		if f.Type == zapcore.StringerType {
			e.Str(f.Key, v.String())
		} else {
			e.Time(f.Key, v)
		}
	case []byte:
		if f.Type == zapcore.ByteStringType {
			e.Bytes(f.Key, v)
		} else {
			e.Base64(f.Key, v)
		}
	case complex128:
		e.Str(f.Key, complexText(v, 64))
	case complex64:
		e.Str(f.Key, complexText(complex128(v), 32))
	default:
		addInterface(e, f)
	}
}

// addInterface adds a field whose value has methods.
func addInterface(e *nib.Event, f *zapcore.Field) {
	switch f.Type {
	case zapcore.ErrorType:
		if v, ok := f.Interface.(error); ok {
			addError(e, f.Key, v)
			return
		}
	case zapcore.StringerType:
		if v, ok := f.Interface.(fmt.Stringer); ok {
			e.Stringer(f.Key, v)
			return
		}
	case zapcore.ObjectMarshalerType:
		if v, ok := f.Interface.(zapcore.ObjectMarshaler); ok {
			reportError(e, f.Key, addObject(e, f.Key, v))
			return
		}
	case zapcore.ArrayMarshalerType:
		if v, ok := f.Interface.(zapcore.ArrayMarshaler); ok {
			reportError(e, f.Key, addArray(e, f.Key, v))
			return
		}
	}
	e.Any(f.Key, f.Interface)
}

func addError(e *nib.Event, key string, err error) {
	if key == errorKey {
		e.Err(err)
		return
	}
	e.AnErr(key, err)
}

// reportError adds an error of a marshaler as zap does, next to the fields that
// the marshaler has added.
func reportError(e *nib.Event, key string, err error) {
	if err != nil {
		e.AnErr(key+"Error", err)
	}
}
