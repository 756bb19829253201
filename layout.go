// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/lastresort"
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

// A Layout is the shape of a line: the names and formats of nib's own fields.
// The zero Layout is the default,
//
//	{"time":"2026-01-02T15:04:05.000Z","level":"info",…fields…,"message":"…"}
//
// Every line is {time, level, logger, caller, fields…, message}. The keys of
// time, level, message, logger, caller and stack, and those that Static and
// Caller write, are reserved, unless they begin with "field.": another
// top-level field with such a key is written as "field." and the key, so that
// no field can be mistaken for one of these. The keys that Err writes are
// reserved in lines with an error. Use keyed literals; more fields may follow.
type Layout struct {
	// Keys. "" is the default: time, level, message, error, caller, stack,
	// logger; OmitKey leaves the field out (and its key unreserved).
	TimeKey, LevelKey, MessageKey, ErrorKey, CallerKey, StackKey, LoggerKey string
	// TraceKey and SpanKey are the keys under which middleware and bridges add the
	// ids of a trace and a span, in hexadecimal: trace_id and span_id by default.
	// They are not reserved.
	TraceKey, SpanKey string

	// TimeFormat is any layout of package time, or TimeUnix, TimeUnixMilli,
	// TimeUnixMicro, TimeUnixNano. Defaults to "2006-01-02T15:04:05.000Z07:00". It
	// holds for the line's time and for fields.
	TimeFormat string
	// TimeZone is the zone that times are shown in. Default time.UTC.
	TimeZone *time.Location
	// KeepZone shows every time in the zone it carries (the line's own in
	// time.Local) instead of TimeZone.
	KeepZone bool
	// Duration is the format of time.Duration fields. Defaults to DurationMillis;
	// a console, whose lines are for people, gets DurationString instead.
	Duration DurationFormat
	// LevelName names a level. Defaults to Level.String.
	LevelName func(Level) string
	// MessageFirst puts the message before the fields.
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

// keys returns the keys of l, with the names of their fields and defaults.
func (l *Layout) keys() [7]layoutKey {
	return [...]layoutKey{
		{"TimeKey", &l.TimeKey, "time"}, {"LevelKey", &l.LevelKey, "level"},
		{"MessageKey", &l.MessageKey, "message"}, {"ErrorKey", &l.ErrorKey, "error"},
		{"CallerKey", &l.CallerKey, "caller"}, {"StackKey", &l.StackKey, "stack"},
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
		*k.key = cmp.Or(*k.key, k.standard)
	}
	l.TraceKey, l.SpanKey = cmp.Or(l.TraceKey, "trace_id"), cmp.Or(l.SpanKey, "span_id")
	l.TimeFormat = cmp.Or(l.TimeFormat, defaultTimeFormat)
}

// TraceKeys returns the keys of the ids of a trace and a span in the layout of
// e, for functions that add them: TraceKey and SpanKey of [Layout], and "" for
// OmitKey.
func TraceKeys(e *Event) (trace, span string) {
	if !e.isActive() {
		return "", ""
	}
	f := e.log.core.format
	if trace = f.TraceKey; trace == OmitKey {
		trace = ""
	}
	if span = f.SpanKey; span == OmitKey {
		span = ""
	}
	return trace, span
}

// Validate returns the errors that [WithLayout] panics with: a TimeFormat
// without any field of a time, such as "YYYY-MM-DD", and keys that are equal or
// begin with "field.". It joins all errors.
func (l Layout) Validate() error {
	l.setDefaults()
	var faults []error
	if !jsonenc.CompileTime(l.TimeFormat).Varies() {
		const text = `nib: Layout.TimeFormat is %q, which has no field of a time: ` +
			`write the reference time of package time instead, ` +
			`such as "2006-01-02 15:04:05.000", or nib.TimeUnixMilli`
		faults = append(faults, fmt.Errorf(text, l.TimeFormat))
	}
	keys := l.keys()
	for i, k := range keys {
		if strings.HasPrefix(*k.key, reservedPrefix) {
			const text = "nib: Layout.%s is %q: write a key without the prefix %q, " +
				"which marks fields whose key is reserved"
			faults = append(faults, fmt.Errorf(text, k.field, *k.key, reservedPrefix))
		}
		for _, before := range keys[:i] {
			if *k.key == *before.key && *k.key != OmitKey {
				const text = "nib: Layout.%s and Layout.%s are both %q: " +
					"give one of them another key, or nib.OmitKey to leave it out"
				faults = append(faults, fmt.Errorf(text, before.field, k.field, *k.key))
			}
		}
	}
	return errors.Join(faults...)
}

// A sharedFormat serves every logger that was given no layout. It is made when
// the first logger is, because a program may import nib and not log.
type sharedFormat struct {
	once   sync.Once
	format *format
}

var defaultFormat, textDurationsFormat sharedFormat

func (s *sharedFormat) get(d DurationFormat) *format {
	s.once.Do(func() { s.format = newFormat(Layout{Duration: d}, new(core)) })
	return s.format
}

// format returns the format of a logger without a layout, whose durations may
// have units.
func (o *output) format() *format {
	if o.textDurations {
		return textDurationsFormat.get(DurationString)
	}
	return defaultFormat.get(DurationMillis)
}

func newFormat(l Layout, c *core) *format {
	l.setDefaults()
	if l.TimeZone = cmp.Or(l.TimeZone, time.UTC); l.KeepZone {
		l.TimeZone = nil // each time has its own zone
	}
	if l.LevelName == nil {
		l.LevelName = Level.String
	}
	f := &format{Layout: l, time: jsonenc.CompileTime(l.TimeFormat)}
	f.fraction = f.time.Fraction()
	f.plans = plan.SetOf(l.style())
	f.timeKey, f.levelKey = f.reserveKey(l.TimeKey), f.reserveKey(l.LevelKey)
	f.messageKey, f.loggerKey = f.reserveKey(l.MessageKey), f.reserveKey(l.LoggerKey)
	f.messageText = jsonenc.MakeText(f.messageKey + `"`)
	f.reserveKey(l.StackKey)
	f.errorField = string(jsonenc.AppendKey(nil, l.ErrorKey))
	f.site = f.frozen() // for Caller: does not reserve the keys that it writes
	f.learnCaller()     // also reserves the keys of the call site
	f.learnError()      // finds the keys of errors, which are reserved only in lines with an error
	f.learnStatic()     // also reserves the keys of Static
	f.reservedBits = f.reserved.bits | f.errorKeys.bits
	for i := range f.levels {
		f.levels[i] = f.encodeLevel(LevelTrace+Level(4*i), c)
	}
	return f
}

// style returns how values of other types, such as structs, show times and
// durations.
func (l *Layout) style() plan.Style {
	s := plan.Style{
		TimeFormat: l.TimeFormat, Zone: l.TimeZone, Marshaler: reflect.TypeFor[Marshaler](),
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

// reserveKey reserves the key and returns `,"key":`, or "" if it is left out.
func (f *format) reserveKey(key string) string {
	if key == OmitKey {
		return ""
	}
	f.reserved.add(key)
	return string(jsonenc.AppendKey(nil, key))
}

// No field may forge a key that a function of the layout writes. Three steps
// call the functions to find their keys; keys that one step finds are reserved
// in the next.

// learnCaller finds the keys of the call site.
func (f *format) learnCaller() {
	key := f.CallerKey
	if key == OmitKey {
		return
	}
	f.siteKeys.add(key)
	if f.Caller != nil {
		frame := callsite.Frame(callsite.PC(0)[0])
		fields, _ := f.probe("Caller", 0, func(e *Event) { f.Caller(e, key, frame) })
		f.siteKeys.addFields(fields)
	}
	for _, k := range f.siteKeys.keys {
		f.reserved.add(k[len(reservedPrefix):])
	}
}

// learnError finds the keys of errors, with samples of the kinds that such
// functions distinguish.
func (f *format) learnError() {
	key := f.ErrorKey
	if key == OmitKey {
		return
	}
	if taken := f.reserved.prefixed(key); taken != "" { // reserved by Caller
		f.errorField = string(jsonenc.AppendKey(nil, taken))
	} else {
		f.errorKeys.add(key)
	}
	if f.Error == nil {
		return
	}
	for _, sample := range usercode.SampleErrors() {
		fields, ok := f.probe("Error", inError, func(e *Event) { f.Error(e, key, sample) })
		f.errorKeys.addFields(fields)
		if !ok {
			return
		}
	}
}

// learnStatic encodes the constant fields, and finds their keys.
func (f *format) learnStatic() {
	if f.Static != nil {
		f.static = f.frozen().build(0, f.Static)
		f.reserved.addFields(f.static)
	}
}

// frozen returns a format for functions of the layout: with the keys that are
// reserved now, and the rest of f that fields need. f still changes.
func (f *format) frozen() *format {
	return &format{
		Layout: f.Layout, time: f.time, plans: f.plans, errorField: f.errorField,
		reserved: f.reserved, errorKeys: f.errorKeys,
		reservedBits: f.reserved.bits | f.errorKeys.bits,
	}
}

// build encodes the fields that a function of the layout adds. Keys of errors
// are reserved, except in the function that writes errors.
func (f *format) build(also flags, add func(*Event)) string {
	l := &Logger{
		core:         &core{format: f, state: new(state), sizeLimit: plan.MaxSize},
		reservedBits: f.reservedBits, boundFlags: hasError,
	}
	e := l.builder()
	e.flags |= also
	e.run(add)
	fields := string(e.buf)
	e.release()
	return fields
}

// probe is build on another goroutine, which add may end. add may also wait
// for the caller of New, to release a lock for example, so probe abandons the
// goroutine after a while.
func (f *format) probe(name string, also flags, add func(*Event)) (fields string, ok bool) {
	own := f.frozen()
	done := make(chan string, 1)
	go func() {
		fields := ""
		defer func() { done <- fields }()
		fields = own.build(also, add)
	}()
	if fields, ok = usercode.Receive(done, time.Second); !ok {
		const text = "nib: Layout.%s, called when the logger is made, " +
			"did not return within a second: the keys that it writes are not reserved; " +
			"it must not take a lock that the caller of New holds"
		lastresort.Report(fmt.Errorf(text, name))
	}
	return fields, ok
}
