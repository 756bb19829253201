// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/plan"
	"github.com/nib-log/nib/internal/usercode"
)

// OmitKey as a key of a [Layout] leaves that field out.
const OmitKey = "-"

// Time formats that are not layouts of package time: the instant as a whole
// number since 1970. They are exact for every time.Time, even where they
// overflow an int64.
const (
	TimeUnix      = "UNIX"      // seconds
	TimeUnixMilli = "UNIXMS"    // milliseconds
	TimeUnixMicro = "UNIXMICRO" // microseconds
	TimeUnixNano  = "UNIXNANO"  // nanoseconds
)

// A DurationFormat is a format of time.Duration fields.
type DurationFormat uint8

// The duration formats. All but the last are JSON numbers and exact.
const (
	DurationMillis  DurationFormat = iota // 1.5 for 1500 µs
	DurationSeconds                       // 0.0015
	DurationNanos                         // 1500000
	DurationString                        // "1.5ms"
)

// A Layout is the shape of a line: names and formats of what nib itself
// writes. The zero Layout is the default,
//
//	{"time":"2026-01-02T15:04:05.000Z","level":"info",…fields…,"message":"…"}
//
// Every line is {time, level, logger, caller, fields…, message}. The keys of
// time, level, message, logger, caller and stack, and those that Static and
// Caller write, are reserved: another top-level field with such a key is
// written as "field." and the key, so that no field can be mistaken for one of
// these. The keys that Err writes are reserved in lines with an error. Use
// keyed literals; more fields may follow.
type Layout struct {
	// Keys. "" is the default: time, level, message, error, caller, stack,
	// logger; OmitKey leaves the field out (and its key unreserved).
	TimeKey, LevelKey, MessageKey, ErrorKey, CallerKey, StackKey, LoggerKey string

	// TimeFormat is any layout of package time, or TimeUnix, TimeUnixMilli,
	// TimeUnixMicro, TimeUnixNano. Default "2006-01-02T15:04:05.000Z07:00".
	// It holds for the line's time and for fields.
	TimeFormat string
	// TimeZone is the zone that times are shown in. Default time.UTC.
	TimeZone *time.Location
	// KeepZone shows every time in the zone it carries (the line's own in
	// time.Local) instead of TimeZone.
	KeepZone bool
	// Duration is the format of time.Duration fields. Default DurationMillis; a
	// console, whose lines are for people, gets DurationString instead.
	Duration DurationFormat
	// LevelName names a level. Default Level.String.
	LevelName func(Level) string
	// MessageFirst puts the message in front of the fields.
	MessageFirst bool
	// Static adds constant fields; it runs once, when the logger is made.
	Static func(e *Event)
	// Error adds an error to a line. Default: its text under key. It also runs
	// when the logger is made, with sample errors, since the keys that it
	// writes are reserved; those that it writes for errors of certain types
	// only are not.
	Error func(e *Event, key string, err error)
	// Caller adds the call site to a line. Default: "dir/file.go:12" under
	// key. It runs once per call site, whose bytes are kept, and once when the
	// logger is made, since the keys that it writes are reserved.
	Caller func(e *Event, key string, f runtime.Frame)
}

const defaultTimeFormat = "2006-01-02T15:04:05.000Z07:00"

// reservedPrefix precedes the key of a field if nib reserves the key.
const reservedPrefix = "field."

// A format is a Layout with its defaults filled in and everything that never
// changes encoded. It is immutable except for its caches and shared by all
// loggers with the layout.
type format struct {
	Layout
	time     jsonenc.TimeFormat
	fraction int // digits of the second's fraction in every time; negative when that varies

	timeKey, levelKey, loggerKey string // `,"time":`; "" when left out
	messageField
	levels [len(level.Names)]string
	static string

	reserved   keySet  // keys of nib's own fields, the call site and Static
	errors     keySet  // keys that Err writes, reserved in lines with an error
	watched    uint64  // the bits of both
	errorField string  // `,"error":`; "" when it is left out
	site       *format // of the fields of a call site: reserves all keys but those
	siteKeys   keySet

	otherLevels callsite.Table[string] // `,"level":"info+2"` by level
	callers     callsite.Table[callText]
	frames      callsite.Table[string] // a line of a stack trace, by pc
	clashing    callsite.Table[clash]  // by plan
	plans       *plan.Set              // of structs and the like, with the times and durations of the layout
}

// A messageField is the beginning of the message in every line.
type messageField struct {
	messageKey  string       // `,"message":`; "" when left out
	messageText jsonenc.Text // with the first quote of the value
}

// defaultFormat serves every logger that was given no layout.
var defaultFormat = newFormat(Layout{})

// keys returns the keys of l, with the names of their fields and their
// defaults.
func (l *Layout) keys() [7]layoutKey {
	return [...]layoutKey{
		{"TimeKey", &l.TimeKey, "time"}, {"LevelKey", &l.LevelKey, "level"}, {"MessageKey", &l.MessageKey, "message"},
		{"ErrorKey", &l.ErrorKey, "error"}, {"CallerKey", &l.CallerKey, "caller"}, {"StackKey", &l.StackKey, "stack"},
		{"LoggerKey", &l.LoggerKey, "logger"},
	}
}

type layoutKey struct {
	field    string
	key      *string
	standard string
}

func (l *Layout) setDefaults() {
	for _, k := range l.keys() {
		if *k.key == "" {
			*k.key = k.standard
		}
	}
	if l.TimeFormat == "" {
		l.TimeFormat = defaultTimeFormat
	}
}

// Validate returns what [WithLayout] panics with: a TimeFormat without any
// field of a time, such as "YYYY-MM-DD", and keys that are equal. It joins all
// errors.
func (l Layout) Validate() error {
	l.setDefaults()
	var faults []error
	if !jsonenc.CompileTime(l.TimeFormat).Varies() {
		faults = append(faults, fmt.Errorf(`nib: Layout.TimeFormat is %q, which has no field of a time: `+
			`write the reference time of package time in its place, such as "2006-01-02 15:04:05.000", or nib.TimeUnixMilli`, l.TimeFormat))
	}
	keys := l.keys()
	for i, k := range keys {
		for _, before := range keys[:i] {
			if *k.key == *before.key && *k.key != OmitKey {
				faults = append(faults, fmt.Errorf("nib: Layout.%s and Layout.%s are both %q: "+
					"give one of them another key, or nib.OmitKey to leave it out", before.field, k.field, *k.key))
			}
		}
	}
	return errors.Join(faults...)
}

func newFormat(l Layout) *format {
	l.setDefaults()
	if l.TimeZone == nil {
		l.TimeZone = time.UTC
	}
	if l.LevelName == nil {
		l.LevelName = Level.String
	}
	f := &format{Layout: l, time: jsonenc.CompileTime(l.TimeFormat)}
	f.fraction = f.time.Fraction()
	f.plans = plan.SetOf(l.style())
	f.timeKey, f.levelKey = f.encodedKey(l.TimeKey), f.encodedKey(l.LevelKey)
	f.messageKey, f.loggerKey = f.encodedKey(l.MessageKey), f.encodedKey(l.LoggerKey)
	f.messageText = jsonenc.MakeText(f.messageKey + `"`)
	f.encodedKey(l.StackKey)
	f.learnKeys()
	for i := range f.levels {
		f.levels[i] = f.encodeLevel(LevelTrace+Level(4*i), new(atomic.Uint64))
	}
	return f
}

// style returns how structs, maps and the like show times and durations.
func (l *Layout) style() plan.Style {
	s := plan.Style{TimeFormat: l.TimeFormat, Zone: l.TimeZone}
	if l.KeepZone {
		s.Zone = nil
	}
	switch l.Duration {
	case DurationNanos:
		s.Duration = plan.Nanoseconds
	case DurationSeconds:
		s.Duration = plan.Seconds
	case DurationString:
		s.Duration = plan.Text
	default:
		s.Duration = plan.Milliseconds
	}
	return s
}

// A keySet is a few keys, each behind reservedPrefix.
type keySet struct {
	keys []string
	bits uint64 // bit keyBit(k) for each key k
}

func (s *keySet) add(key string) {
	if !s.has(key) {
		s.keys = append(s.keys, reservedPrefix+key)
		s.bits |= 1 << keyBit(key)
	}
}

func (s *keySet) clone() keySet { return keySet{slices.Clone(s.keys), s.bits} }

func (s *keySet) has(key string) bool { return s.prefixed(key) != "" }

// prefixed returns key behind reservedPrefix if it is in the set, and else "".
func (s *keySet) prefixed(key string) string {
	if s.bits>>keyBit(key)&1 == 0 {
		return ""
	}
	for _, k := range s.keys {
		if k[len(reservedPrefix):] == key {
			return k
		}
	}
	return ""
}

// learnKeys calls the functions of the layout to find the keys that they write:
// Caller with a call site, Error with errors of the kinds that such functions
// distinguish. No field may forge these keys.
func (f *format) learnKeys() {
	f.site = &format{Layout: f.Layout, time: f.time, plans: f.plans, reserved: f.reserved.clone(), watched: f.reserved.bits}
	f.watched = f.reserved.bits
	if f.CallerKey != OmitKey {
		f.siteKeys.add(f.CallerKey)
		if f.Caller != nil {
			frame := callsite.Frame(callsite.PC(0)[0])
			fields, _ := f.sample("Caller", 0, func(e *Event) { f.Caller(e, f.CallerKey, frame) })
			f.siteKeys.addFields(fields)
		}
		for _, k := range f.siteKeys.keys {
			f.reserved.add(k[len(reservedPrefix):])
		}
	}
	f.watched = f.reserved.bits
	if key := f.ErrorKey; key != OmitKey {
		f.errorField = string(jsonenc.AppendKey(nil, f.renamed(key)))
		f.site.errorField = f.errorField
		if !f.reserved.has(key) {
			f.errors.add(key)
		}
		for i, ok := 0, f.Error != nil; ok && i < len(usercode.SampleErrors); i++ {
			var fields string
			fields, ok = f.sample("Error", inError, func(e *Event) { f.Error(e, key, usercode.SampleErrors[i]) })
			f.errors.addFields(fields)
		}
	}
	f.watched |= f.errors.bits
	if f.Static != nil {
		f.static = f.build(0, f.Static)
		f.reserved.addFields(f.static)
		f.watched |= f.reserved.bits
	}
}

// build encodes the fields that a function of the layout adds. Keys of errors
// are reserved, except in the function that writes errors.
func (f *format) build(also flags, add func(*Event)) string {
	e := (&Logger{core: &core{format: f, state: new(state)}, watched: f.watched, errors: hasError}).builder()
	e.flags |= also
	e.run(add)
	fields := string(e.buf)
	e.release()
	return fields
}

// sample is build on another goroutine, which add may end. add may also wait
// for the caller of New, to release a lock for example, so sample abandons the
// goroutine after a while. It uses a copy of f, since f changes.
func (f *format) sample(name string, also flags, add func(*Event)) (fields string, ok bool) {
	own := &format{
		Layout: f.Layout, time: f.time, plans: f.plans, errorField: f.errorField,
		reserved: f.reserved.clone(), watched: f.watched,
	}
	done := make(chan string, 1)
	go func() {
		fields := ""
		defer func() { done <- fields }()
		fields = own.build(also, add)
	}()
	timer := time.NewTimer(lastresort.Wait)
	defer timer.Stop()
	select {
	case fields = <-done:
		return fields, true
	case <-timer.C:
		lastresort.Report(fmt.Errorf("nib: Layout.%s, called when the logger is made, did not return within %v: "+
			"the keys that it writes are not reserved; it must not take a lock that the caller of New holds", name, lastresort.Wait))
		return "", false
	}
}

// addFields adds the keys of encoded fields, but not those that are prefixed.
func (s *keySet) addFields(fields string) {
	for k := range jsonread.Fields([]byte(fields)) {
		name, _ := jsonread.AppendUnquoted(nil, append(append([]byte{'"'}, k...), '"'))
		if key := string(name); !strings.HasPrefix(key, reservedPrefix) && key != panicKey {
			s.add(key)
		}
	}
}

// encodedKey returns `,"key":` and reserves the key, or "" when it is left out.
func (f *format) encodedKey(key string) string {
	if key == OmitKey {
		return ""
	}
	f.reserved.add(key)
	return string(jsonenc.AppendKey(nil, key))
}

// renamed returns key, with reservedPrefix in front if nib reserves it at the
// top level.
func (f *format) renamed(key string) string {
	if k := f.reserved.prefixed(key); k != "" {
		return k
	}
	return key
}

// rename puts reservedPrefix in front of those keys of encoded fields that are
// in set. end is what the fields lack to be complete.
func (set *keySet) rename(fields, end string) string {
	if fields == "" {
		return ""
	}
	var out, name []byte
	for k, v := range jsonread.Fields([]byte(fields + end)) {
		name, _ = jsonread.AppendUnquoted(name[:0], append(append([]byte{'"'}, k...), '"'))
		out = append(out, ',', '"')
		if set.has(string(name)) {
			out = append(out, reservedPrefix...)
		}
		out = append(append(append(out, k...), '"', ':'), v...)
	}
	return string(out[:len(out)-len(end)])
}

// zone returns the zone in which to show a time of zone own.
func (f *format) zone(own *time.Location) *time.Location {
	if f.KeepZone {
		return own
	}
	return f.TimeZone
}

func (f *format) appendDuration(dst []byte, d time.Duration) []byte {
	switch f.Duration {
	case DurationSeconds:
		return jsonenc.AppendSeconds(dst, d)
	case DurationNanos:
		return jsonenc.AppendInt(dst, int64(d))
	case DurationString:
		return jsonenc.AppendDurationString(dst, d)
	default:
		return jsonenc.AppendMillis(dst, d)
	}
}
