// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"fmt"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
)

// Strs adds an array of strings. As with every slice, nil is null and an empty
// one is [].
func (e *Event) Strs(key string, vals []string) *Event {
	return list(e, key, vals, jsonenc.AppendString)
}

// Bools adds an array of truth values.
func (e *Event) Bools(key string, vals []bool) *Event {
	return list(e, key, vals, jsonenc.AppendBool)
}

// Ints adds an array of numbers.
func (e *Event) Ints(key string, vals []int) *Event { return list(e, key, vals, appendInt) }

// Ints8 adds an array of numbers.
func (e *Event) Ints8(key string, vals []int8) *Event { return list(e, key, vals, appendInt) }

// Ints16 adds an array of numbers.
func (e *Event) Ints16(key string, vals []int16) *Event { return list(e, key, vals, appendInt) }

// Ints32 adds an array of numbers.
func (e *Event) Ints32(key string, vals []int32) *Event { return list(e, key, vals, appendInt) }

// Ints64 adds an array of numbers.
func (e *Event) Ints64(key string, vals []int64) *Event { return list(e, key, vals, appendInt) }

// Uints adds an array of numbers.
func (e *Event) Uints(key string, vals []uint) *Event { return list(e, key, vals, appendUint) }

// Uints8 adds an array of numbers; for text or binary data see Bytes, Hex and
// Base64.
func (e *Event) Uints8(key string, vals []uint8) *Event { return list(e, key, vals, appendUint) }

// Uints16 adds an array of numbers.
func (e *Event) Uints16(key string, vals []uint16) *Event { return list(e, key, vals, appendUint) }

// Uints32 adds an array of numbers.
func (e *Event) Uints32(key string, vals []uint32) *Event { return list(e, key, vals, appendUint) }

// Uints64 adds an array of numbers.
func (e *Event) Uints64(key string, vals []uint64) *Event { return list(e, key, vals, appendUint) }

// Floats32 adds an array of numbers, each as Float32 writes it.
func (e *Event) Floats32(key string, vals []float32) *Event {
	return list(e, key, vals, jsonenc.AppendFloat32)
}

// Floats64 adds an array of numbers, each as Float64 writes it.
func (e *Event) Floats64(key string, vals []float64) *Event {
	return list(e, key, vals, jsonenc.AppendFloat64)
}

// Times adds an array of times in the layout's format and zone.
func (e *Event) Times(key string, vals []time.Time) *Event {
	if e == nil {
		return nil
	}
	return each(e, key, vals, (*Event).addTime)
}

// Durs adds an array of durations in the layout's format.
func (e *Event) Durs(key string, vals []time.Duration) *Event {
	if e == nil {
		return nil
	}
	return list(e, key, vals, e.log.core.format.appendDuration)
}

// Stringers adds the texts of an array; a nil element is null.
func (e *Event) Stringers(key string, vals []fmt.Stringer) *Event {
	return each(e, key, vals, (*Event).addStringer)
}

// Errs adds the texts of an array of errors; a nil element is null.
func (e *Event) Errs(key string, errs []error) *Event {
	return each(e, key, errs, (*Event).addError)
}

func appendInt[T int | int8 | int16 | int32 | int64](dst []byte, v T) []byte {
	return jsonenc.AppendInt(dst, int64(v))
}

func appendUint[T uint | uint8 | uint16 | uint32 | uint64](dst []byte, v T) []byte {
	return jsonenc.AppendUint(dst, uint64(v))
}

// list adds an array of values that no user code takes part in.
func list[T any](e *Event, key string, vals []T, app func([]byte, T) []byte) *Event {
	if e == nil {
		return nil
	}
	key, ok := e.key(key)
	if !ok {
		return e
	}
	buf := jsonenc.AppendKey(e.buf, key)
	if vals == nil {
		e.buf = append(buf, "null"...)
		return e
	}
	buf = append(buf, '[')
	for i, v := range vals {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = app(buf, v)
	}
	e.buf = append(buf, ']')
	return e
}

// each adds an array of values that the event itself writes, since their own
// methods run meanwhile or since it keeps something for them.
func each[T any](e *Event, key string, vals []T, add func(*Event, T)) *Event {
	if e == nil {
		return nil
	}
	key, ok := e.key(key)
	if !ok {
		return e
	}
	e.buf = jsonenc.AppendKey(e.buf, key)
	if vals == nil {
		e.null()
		return e
	}
	e.buf = append(e.buf, '[')
	for i, v := range vals {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		add(e, v)
	}
	e.buf = append(e.buf, ']')
	return e
}
