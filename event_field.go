// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/plan"
)

// mayBeReserved reports whether checkKey must look at key. It is inlined: a
// call would take a tenth of the time of a line with ten fields.
func (e *Event) mayBeReserved(key string) bool { return e.reservedBits>>keyBit(key)&1 != 0 }

// checkKey returns the key that a field with this key is written under, or
// false if no field may be added.
func (e *Event) checkKey(key string) (string, bool) {
	if e.depth < 0 {
		e.misused("a field was added to a finished event")
		return "", false
	}
	if e.flags&(inArray|inValue) != 0 {
		e.misused("a field was added to an array or to the value of another field")
		return "", false
	}
	f := e.log.core.format
	if k := f.reserved.prefixed(key); k != "" {
		return k, true
	}
	if e.flags&inError != 0 {
		return key, true
	}
	if k := f.errorKeys.prefixed(key); k != "" {
		if e.hasError() {
			return k, true
		}
		e.flags |= hasErrorKey
	}
	return key, true
}

// isClosed reports whether no field may be added, which it counts as misuse.
func (e *Event) isClosed() bool {
	if e.reservedBits != allReserved {
		return false
	}
	_, ok := e.checkKey("")
	return !ok
}

func (e *Event) hasError() bool { return (e.flags|e.log.boundFlags)&hasError != 0 }

// isActive reports whether e is an event, and not finished: a call on a
// finished one counts as misuse.
func (e *Event) isActive() bool {
	if e != nil && e.depth < 0 {
		e.misused("a field was added to a finished event")
	}
	return e != nil && e.depth >= 0
}

// beginField adds the key of a field, and reports whether a field may be added.
// The most used methods below append key and value in one step instead.
func (e *Event) beginField(key string) bool {
	if e.mayBeReserved(key) {
		var ok bool
		if key, ok = e.checkKey(key); !ok {
			return false
		}
	}
	e.buf = jsonenc.AppendKey(e.buf, key)
	return true
}

func (e *Event) str(key, val string) {
	if e.mayBeReserved(key) {
		var ok bool
		if key, ok = e.checkKey(key); !ok {
			return
		}
	}
	e.buf = jsonenc.AppendKeyString(e.buf, key, val)
}

func (e *Event) int(key string, val int64) {
	if e.mayBeReserved(key) {
		var ok bool
		if key, ok = e.checkKey(key); !ok {
			return
		}
	}
	e.buf = jsonenc.AppendKeyInt(e.buf, key, val)
}

func (e *Event) uint(key string, val uint64) {
	if e.mayBeReserved(key) {
		var ok bool
		if key, ok = e.checkKey(key); !ok {
			return
		}
	}
	e.buf = jsonenc.AppendKeyUint(e.buf, key, val)
}

func (e *Event) bool(key string, val bool) {
	if e.mayBeReserved(key) {
		var ok bool
		if key, ok = e.checkKey(key); !ok {
			return
		}
	}
	e.buf = jsonenc.AppendBool(jsonenc.AppendKey(e.buf, key), val)
}

func (e *Event) float32(key string, val float32) {
	if e.beginField(key) {
		e.buf = jsonenc.AppendFloat32(e.buf, val)
	}
}

func (e *Event) float64(key string, val float64) {
	if e.beginField(key) {
		e.buf = jsonenc.AppendFloat64(e.buf, val)
	}
}

func (e *Event) dur(key string, d time.Duration) {
	if e.beginField(key) {
		e.buf = e.log.core.format.appendDuration(e.buf, d)
	}
}

// beginBytes is beginField for bytes; for nil it adds null and returns false.
func (e *Event) beginBytes(key string, val []byte) bool {
	if !e.beginField(key) {
		return false
	}
	if val == nil {
		e.null()
	}
	return val != nil
}

// enclose makes buf[from:] an object or array; its members begin with a comma.
func (e *Event) enclose(from int, brackets string) {
	if len(e.buf) == from {
		e.buf = append(e.buf, brackets...)
		return
	}
	e.buf[from] = brackets[0]
	e.buf = append(e.buf, brackets[1])
}

// null appends the value of a missing argument.
func (e *Event) null() { e.buf = append(e.buf, "null"...) }

// addTime appends a time. The times of consecutive lines often share their
// second, whose text the event keeps.
func (e *Event) addTime(t time.Time) {
	f := e.log.core.format
	zone := f.zone(t.Location())
	e.buf = f.time.AppendCached(e.buf, &e.fieldSecond, t.Unix(), t.Nanosecond(), zone)
}

// setValue makes buf, which ends in a value, the line. If err is not nil, its
// text becomes the value.
func (e *Event) setValue(buf []byte, err error) {
	if err != nil {
		buf = jsonenc.AppendString(buf, errorText(err))
	}
	e.buf = buf
}

// setFields is setValue for fields: the error becomes a field.
func (e *Event) setFields(buf []byte, err error) {
	e.buf = buf
	if err != nil {
		e.str("error", errorText(err))
	}
}

// A userError is a text that is written to a line unchanged.
type userError string

func (u userError) Error() string { return string(u) }

func errorText(err error) string {
	switch err := err.(type) {
	case userError:
		return string(err)
	case *plan.Error:
		return "!ERROR: " + err.Text()
	}
	return "!ERROR: " + err.Error()
}

// setTime sets the time of the line.
func (e *Event) setTime(t time.Time) {
	e.sec, e.nsec = t.Unix(), int32(t.Nanosecond())
	e.flags |= hasTime
}
