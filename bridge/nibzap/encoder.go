// SPDX-License-Identifier: Apache-2.0

package nibzap

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"go.uber.org/zap/zapcore"
)

// An object is the zapcore.ObjectEncoder for the ObjectMarshaler of a field.
type object struct {
	e *nib.Event
	// Objects and namespaces that the marshaler has opened, each within the one
	// before.
	spaces []space
}

// A space is a namespace that a marshaler has opened. nib has no object without
// an end, so its fields are collected.
type space struct {
	key    string
	fields *zapcore.MapObjectEncoder
}

// all returns the fields as nib adds them.
func (s space) all() map[string]any {
	c := conversion{left: maxConverted}
	return c.encodable(s.fields.Fields).(map[string]any)
}

// maxConverted is the maximum number of values of a namespace that are
// converted. The values of the program may contain themselves.
const maxConverted = 1 << 10

// A conversion converts the values of zap to values that nib encodes as zap
// does: complex numbers and empty arrays. It copies maps and slices, since they
// may belong to the program.
type conversion struct{ left int }

func (c *conversion) encodable(v any) any {
	if c.left--; c.left < 0 {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		copied := make(map[string]any, len(v))
		for key, value := range v {
			copied[key] = c.encodable(value)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, value := range v {
			copied[i] = c.encodable(value)
		}
		return copied
	case complex128:
		return complexText(v, 64)
	case complex64:
		return complexText(complex128(v), 32)
	}
	return v
}

var _ zapcore.ObjectEncoder = (*object)(nil)

var objects = sync.Pool{New: func() any { return new(object) }}

// addObject adds the fields of m as an object, and returns its error.
func addObject(e *nib.Event, key string, m zapcore.ObjectMarshaler) (err error) {
	e.Dict(key, func(e *nib.Event) { err = marshalObject(e, m) })
	return err
}

// marshalObject adds the fields of m at this level.
func marshalObject(e *nib.Event, m zapcore.ObjectMarshaler) error {
	o := objects.Get().(*object)
	o.e = e
	err := m.MarshalLogObject(o)
	addSpaces(e, o.free(), nil)
	return err
}

// free returns o to the pool, and returns the namespaces that it has opened.
func (o *object) free() []space {
	spaces := o.spaces
	o.e, o.spaces = nil, nil
	objects.Put(o)
	return spaces
}

// inline adds the fields of a field's marshaler at this level. Namespaces that
// it has opened contain the fields that follow.
func (o *object) inline(e *nib.Event, f *zapcore.Field) {
	m, ok := f.Interface.(zapcore.ObjectMarshaler)
	if !ok {
		if f.Interface != nil {
			e.Any(f.Key, f.Interface)
		}
		return
	}
	e.Func(func(e *nib.Event) {
		o.e = e
		if err := m.MarshalLogObject(o); err != nil {
			o.AddString(f.Key+"Error", err.Error())
		}
	})
}

// to returns the innermost namespace, or nil at the level of the object.
func (o *object) to() zapcore.ObjectEncoder {
	if n := len(o.spaces); n > 0 {
		return o.spaces[n-1].fields
	}
	return nil
}

func (o *object) OpenNamespace(key string) {
	o.spaces = append(o.spaces, space{key, zapcore.NewMapObjectEncoder()})
}

func (o *object) AddArray(key string, m zapcore.ArrayMarshaler) error {
	if s := o.to(); s != nil {
		return s.AddArray(key, m)
	}
	return addArray(o.e, key, m)
}

func (o *object) AddObject(key string, m zapcore.ObjectMarshaler) error {
	if s := o.to(); s != nil {
		return s.AddObject(key, m)
	}
	return addObject(o.e, key, m)
}

func (o *object) AddReflected(key string, v any) error {
	if s := o.to(); s != nil {
		return s.AddReflected(key, v)
	}
	o.e.Any(key, v)
	return nil
}

func (o *object) AddString(key, v string) {
	if s := o.to(); s != nil {
		s.AddString(key, v)
		return
	}
	o.e.Str(key, v)
}

func (o *object) AddBinary(key string, v []byte) {
	if s := o.to(); s != nil {
		s.AddBinary(key, v)
		return
	}
	o.e.Base64(key, v)
}

func (o *object) AddByteString(key string, v []byte) {
	if s := o.to(); s != nil {
		s.AddByteString(key, v)
		return
	}
	o.e.Bytes(key, v)
}

func (o *object) AddBool(key string, v bool) {
	if s := o.to(); s != nil {
		s.AddBool(key, v)
		return
	}
	o.e.Bool(key, v)
}

func (o *object) AddDuration(key string, v time.Duration) {
	if s := o.to(); s != nil {
		s.AddDuration(key, v)
		return
	}
	o.e.Dur(key, v)
}

func (o *object) AddTime(key string, v time.Time) {
	if s := o.to(); s != nil {
		s.AddTime(key, v)
		return
	}
	o.e.Time(key, v)
}

func (o *object) AddFloat64(key string, v float64) {
	if s := o.to(); s != nil {
		s.AddFloat64(key, v)
		return
	}
	o.e.Float64(key, v)
}

func (o *object) AddFloat32(key string, v float32) {
	if s := o.to(); s != nil {
		s.AddFloat32(key, v)
		return
	}
	o.e.Float32(key, v)
}

func (o *object) AddInt64(key string, v int64) {
	if s := o.to(); s != nil {
		s.AddInt64(key, v)
		return
	}
	o.e.Int64(key, v)
}

func (o *object) AddUint64(key string, v uint64) {
	if s := o.to(); s != nil {
		s.AddUint64(key, v)
		return
	}
	o.e.Uint64(key, v)
}

func (o *object) AddComplex128(k string, v complex128) { o.AddString(k, complexText(v, 64)) }
func (o *object) AddComplex64(k string, v complex64) {
	o.AddString(k, complexText(complex128(v), 32))
}
func (o *object) AddInt(k string, v int)         { o.AddInt64(k, int64(v)) }
func (o *object) AddInt32(k string, v int32)     { o.AddInt64(k, int64(v)) }
func (o *object) AddInt16(k string, v int16)     { o.AddInt64(k, int64(v)) }
func (o *object) AddInt8(k string, v int8)       { o.AddInt64(k, int64(v)) }
func (o *object) AddUint(k string, v uint)       { o.AddUint64(k, uint64(v)) }
func (o *object) AddUint32(k string, v uint32)   { o.AddUint64(k, uint64(v)) }
func (o *object) AddUint16(k string, v uint16)   { o.AddUint64(k, uint64(v)) }
func (o *object) AddUint8(k string, v uint8)     { o.AddUint64(k, uint64(v)) }
func (o *object) AddUintptr(k string, v uintptr) { o.AddUint64(k, uint64(v)) }

// An array is the zapcore.ArrayEncoder for an ArrayMarshaler. It is the Array
// of nib.
type array nib.Array

var _ zapcore.ArrayEncoder = (*array)(nil)

// addArray adds the elements that m encodes, and returns its error.
func addArray(e *nib.Event, key string, m zapcore.ArrayMarshaler) (err error) {
	e.Array(key, func(a *nib.Array) {
		if !addStringers(a, m) {
			err = m.MarshalLogArray((*array)(a))
		}
	})
	return err
}

// addStringers adds the elements of m if it is the value of zap.Stringers. It
// adds null for a nil element, for whose method zap panics.
func addStringers(a *nib.Array, m zapcore.ArrayMarshaler) bool {
	v := reflect.ValueOf(m)
	t := v.Type()
	if t.PkgPath() != "go.uber.org/zap" || !strings.HasPrefix(t.Name(), "stringers[") {
		return false
	}
	for i := range v.Len() {
		x := v.Index(i)
		if x.Kind() == reflect.Interface {
			x = x.Elem()
		}
		if !x.IsValid() || x.Kind() == reflect.Pointer && x.IsNil() {
			a.Null()
		} else {
			a.Str(x.Interface().(fmt.Stringer).String())
		}
	}
	return true
}

func (a *array) nib() *nib.Array { return (*nib.Array)(a) }

func (a *array) AppendArray(m zapcore.ArrayMarshaler) (err error) {
	a.nib().Array(func(a *nib.Array) { err = m.MarshalLogArray((*array)(a)) })
	return err
}

func (a *array) AppendObject(m zapcore.ObjectMarshaler) (err error) {
	a.nib().Dict(func(e *nib.Event) { err = marshalObject(e, m) })
	return err
}

func (a *array) AppendReflected(v any) error {
	a.nib().Any(v)
	return nil
}

func (a *array) AppendBool(v bool)              { a.nib().Bool(v) }
func (a *array) AppendByteString(v []byte)      { a.nib().Str(string(v)) }
func (a *array) AppendComplex128(v complex128)  { a.nib().Str(complexText(v, 64)) }
func (a *array) AppendComplex64(v complex64)    { a.nib().Str(complexText(complex128(v), 32)) }
func (a *array) AppendFloat64(v float64)        { a.nib().Float(v) }
func (a *array) AppendFloat32(v float32)        { a.nib().Float(shortest(v)) }
func (a *array) AppendInt(v int)                { a.nib().Int(int64(v)) }
func (a *array) AppendInt64(v int64)            { a.nib().Int(v) }
func (a *array) AppendInt32(v int32)            { a.nib().Int(int64(v)) }
func (a *array) AppendInt16(v int16)            { a.nib().Int(int64(v)) }
func (a *array) AppendInt8(v int8)              { a.nib().Int(int64(v)) }
func (a *array) AppendString(v string)          { a.nib().Str(v) }
func (a *array) AppendUint(v uint)              { a.nib().Uint(uint64(v)) }
func (a *array) AppendUint64(v uint64)          { a.nib().Uint(v) }
func (a *array) AppendUint32(v uint32)          { a.nib().Uint(uint64(v)) }
func (a *array) AppendUint16(v uint16)          { a.nib().Uint(uint64(v)) }
func (a *array) AppendUint8(v uint8)            { a.nib().Uint(uint64(v)) }
func (a *array) AppendUintptr(v uintptr)        { a.nib().Uint(uint64(v)) }
func (a *array) AppendDuration(v time.Duration) { a.nib().Dur(v) }
func (a *array) AppendTime(v time.Time)         { a.nib().Time(v) }

// shortest returns the float64 with the digits of v: 0.1, not 0.10000000149.
func shortest(v float32) float64 {
	var b [32]byte
	f, _ := strconv.ParseFloat(string(strconv.AppendFloat(b[:0], float64(v), 'g', -1, 32)), 64)
	return f
}

// complexText returns the text that zap writes: "1+2i".
func complexText(c complex128, bits int) string {
	b := strconv.AppendFloat(make([]byte, 0, 32), real(c), 'f', -1, bits)
	if imag(c) >= 0 {
		b = append(b, '+')
	}
	return string(append(strconv.AppendFloat(b, imag(c), 'f', -1, bits), 'i'))
}
