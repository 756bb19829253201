// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"fmt"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
)

// A slice that is passed to a function value escapes: every caller's slice
// would move to the heap, even if the level is off. That is why most methods
// have a loop of their own, and why those without one are not inlined.

// Strs adds an array of strings. As with every slice, nil is null and an empty
// one is [].
func (e *Event) Strs(key string, vals []string) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		buf := e.buf
		for _, v := range vals {
			buf = jsonenc.AppendString(append(buf, ','), v)
		}
		e.buf = buf
		e.enclose(from, "[]")
	}
	return e
}

// Bools adds an array of booleans.
func (e *Event) Bools(key string, vals []bool) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		buf := e.buf
		for _, v := range vals {
			buf = jsonenc.AppendBool(append(buf, ','), v)
		}
		e.buf = buf
		e.enclose(from, "[]")
	}
	return e
}

// Ints adds an array of numbers.
//
//go:noinline
func (e *Event) Ints(key string, vals []int) *Event { return ints(e, key, vals) }

// Ints8 adds an array of numbers.
//
//go:noinline
func (e *Event) Ints8(key string, vals []int8) *Event { return ints(e, key, vals) }

// Ints16 adds an array of numbers.
//
//go:noinline
func (e *Event) Ints16(key string, vals []int16) *Event { return ints(e, key, vals) }

// Ints32 adds an array of numbers.
//
//go:noinline
func (e *Event) Ints32(key string, vals []int32) *Event { return ints(e, key, vals) }

// Ints64 adds an array of numbers.
//
//go:noinline
func (e *Event) Ints64(key string, vals []int64) *Event { return ints(e, key, vals) }

// Uints adds an array of numbers.
//
//go:noinline
func (e *Event) Uints(key string, vals []uint) *Event { return ints(e, key, vals) }

// Uints8 adds an array of numbers; for text or binary data see Bytes, Hex and
// Base64.
//
//go:noinline
func (e *Event) Uints8(key string, vals []uint8) *Event { return ints(e, key, vals) }

// Uints16 adds an array of numbers.
//
//go:noinline
func (e *Event) Uints16(key string, vals []uint16) *Event { return ints(e, key, vals) }

// Uints32 adds an array of numbers.
//
//go:noinline
func (e *Event) Uints32(key string, vals []uint32) *Event { return ints(e, key, vals) }

// Uints64 adds an array of numbers.
//
//go:noinline
func (e *Event) Uints64(key string, vals []uint64) *Event { return ints(e, key, vals) }

// Floats32 adds an array of numbers, each as Float32 writes it.
func (e *Event) Floats32(key string, vals []float32) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		buf := e.buf
		for _, v := range vals {
			buf = jsonenc.AppendFloat32(append(buf, ','), v)
		}
		e.buf = buf
		e.enclose(from, "[]")
	}
	return e
}

// Floats64 adds an array of numbers, each as Float64 writes it.
func (e *Event) Floats64(key string, vals []float64) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		buf := e.buf
		for _, v := range vals {
			buf = jsonenc.AppendFloat64(append(buf, ','), v)
		}
		e.buf = buf
		e.enclose(from, "[]")
	}
	return e
}

// Times adds an array of times in the layout's format and zone.
func (e *Event) Times(key string, vals []time.Time) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		for _, v := range vals {
			e.buf = append(e.buf, ',')
			e.addTime(v)
		}
		e.enclose(from, "[]")
	}
	return e
}

// Durs adds an array of durations in the layout's format.
func (e *Event) Durs(key string, vals []time.Duration) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		buf := e.buf
		for _, v := range vals {
			buf = e.log.core.format.appendDuration(append(buf, ','), v)
		}
		e.buf = buf
		e.enclose(from, "[]")
	}
	return e
}

// Stringers adds the texts of an array; a nil element is null.
//
//go:noinline
func (e *Event) Stringers(key string, vals []fmt.Stringer) *Event {
	return each(e, key, vals, (*Event).addStringer)
}

// Errs adds the texts of an array of errors; a nil element is null.
//
//go:noinline
func (e *Event) Errs(key string, errs []error) *Event {
	return each(e, key, errs, (*Event).addError)
}

func ints[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](
	e *Event, key string, vals []T,
) *Event {
	if from := e.beginList(key, vals == nil); from >= 0 {
		e.buf = jsonenc.AppendInts(e.buf, vals)
		e.enclose(from, "[]")
	}
	return e
}

// beginList begins an array, whose elements each begin with a comma, and
// returns the offset of its bracket, or -1 if there is no array to fill.
func (e *Event) beginList(key string, null bool) (from int) {
	if e == nil || !e.beginField(key) {
		return -1
	}
	if null {
		e.null()
		return -1
	}
	return len(e.buf)
}

// each adds an array of values that the event itself writes, because it runs
// their methods or keeps state for them.
func each[T any](e *Event, key string, vals []T, add func(*Event, T)) *Event {
	if e == nil {
		return nil
	}
	if from := e.beginList(key, vals == nil); from >= 0 {
		for _, v := range vals {
			e.buf = append(e.buf, ',')
			add(e, v)
		}
		e.enclose(from, "[]")
	}
	return e
}
