// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
)

// A Style sets how times and durations are written. The zero Style is the
// style of encoding/json. It is comparable: equal Styles share their plans.
type Style struct {
	Duration   Duration
	TimeFormat string         // a format for jsonenc.CompileTime
	Zone       *time.Location // zone in which times are shown; if nil, the zone of each time

	// Marshaler is the interface of values that write themselves as fields of a
	// line. If it is not nil, the plans are for lines: see Line.
	Marshaler reflect.Type
}

// A Duration is a format of time.Duration values that no tag gives a unit.
type Duration uint8

// The formats.
const (
	Nanoseconds Duration = iota // as in encoding/json
	Milliseconds
	Seconds
	Text // "1.5s"
)

var durationCodes = [...]code{Nanoseconds: codeInt64, Milliseconds: codeMillis,
	Seconds: codeSeconds, Text: codeSpan}

// A Set has the plans of all types for one Style.
type Set struct {
	// The plans of addressable values, by type and by pointer type, and of values
	// without an address, such as the values of maps and interfaces: for these,
	// methods with a pointer receiver do not count.
	addressed, targets, values table

	marshaler reflect.Type // Style.Marshaler

	duration code // code of time.Duration
	times    bool // times have a format other than the standard one
	time     jsonenc.TimeFormat
	zone     *time.Location
}

var standard = Set{duration: codeInt64}

// maxStyles is the number of Styles that share their plans. A program that
// makes more must be creating time zones; the plans of further Styles can be
// freed with them.
const maxStyles = 64

var styles struct {
	sync.Mutex
	sets map[Style]*Set
}

// SetOf returns the plans of a Style.
func SetOf(s Style) *Set {
	if s == (Style{}) {
		return &standard
	}
	styles.Lock()
	defer styles.Unlock()
	set := styles.sets[s]
	if set == nil {
		set = &Set{
			marshaler: s.Marshaler, duration: durationCodes[s.Duration],
			times: true, time: jsonenc.CompileTime(s.TimeFormat), zone: s.Zone,
		}
		if styles.sets == nil {
			styles.sets = map[Style]*Set{}
		}
		if len(styles.sets) < maxStyles {
			styles.sets[s] = set
		}
	}
	return set
}

// ForIn returns the plan of the type T in a set, as For does.
func ForIn[T any](s *Set) *Plan {
	typ, _ := unpack((*T)(nil))
	if p := s.targets.find(uintptr(typ)); p != nil {
		return p
	}
	return s.makePlan(reflect.TypeFor[T](), true)
}

// of returns the plan of the value in v.
func (s *Set) of(typ pointer, v any) *Plan {
	if p := s.values.find(uintptr(typ)); p != nil {
		return p
	}
	return s.makePlan(reflect.TypeOf(v), false)
}

// appendTime appends the time at v in the format of the set.
func (s *Set) appendTime(dst []byte, v pointer) []byte {
	t := load[time.Time](v)
	if s.zone != nil {
		t = t.In(s.zone)
	}
	return s.time.Append(dst, t)
}
