// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"runtime"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonscan"
	"github.com/nib-log/nib/internal/level"
)

// OmitKey as a key of a [Layout] leaves that field out.
const OmitKey = "-"

// Time formats that are not layouts of package time: the instant as a whole
// number since 1970. They are exact for every time.Time, also where
// nanoseconds no longer fit an int64.
const (
	TimeUnix      = jsonenc.TimeUnix
	TimeUnixMilli = jsonenc.TimeUnixMilli
	TimeUnixMicro = jsonenc.TimeUnixMicro
	TimeUnixNano  = jsonenc.TimeUnixNano
)

// A DurationFormat says how a time.Duration is written.
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
// time, level, message, logger, caller and stack are reserved: a top-level
// field of the caller's with such a key is written as "field." and the key, so
// that no field can pass for what nib says of the line. Use keyed literals;
// more fields may follow.
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
	// Duration is the format of time.Duration fields. Default DurationMillis.
	Duration DurationFormat
	// LevelName names a level. Default Level.String.
	LevelName func(Level) string
	// MessageFirst puts the message in front of the fields.
	MessageFirst bool
	// Static adds constant fields; it runs once, when the logger is made.
	Static func(e *Event)
	// Error adds an error to a line. Default: its text under key.
	Error func(e *Event, key string, err error)
	// Caller adds the call site to a line. Default: "dir/file.go:12" under
	// key. It runs once per call site; the bytes are kept.
	Caller func(e *Event, key string, f runtime.Frame)
}

const defaultTimeFormat = "2006-01-02T15:04:05.000Z07:00"

// reservedPrefix goes in front of a field's key that nib keeps for itself.
const reservedPrefix = "field."

// A format is a Layout with its defaults filled in and everything that never
// changes encoded. It is immutable but for its caches and shared by all loggers
// with the layout.
type format struct {
	Layout
	time     jsonenc.TimeFormat
	fraction int // digits of the second's fraction in every time; negative when that varies

	timeKey, levelKey, messageKey, loggerKey string // `,"time":`; "" when left out
	levels                                   [len(level.Names)]string
	static                                   string

	reserved []string // with the prefix
	watched  uint64   // bit keyBit(k) is set for every reserved key k

	otherLevels callsite.Table[string] // `,"level":"info+2"` by level
	callers     callsite.Table[callText]
	frames      callsite.Table[string] // a line of a stack trace, by pc
	clashing    callsite.Table[bool]   // by plan
}

// defaultFormat serves every logger that was given no layout.
var defaultFormat = newFormat(Layout{})

func newFormat(l Layout) *format {
	for _, k := range []struct {
		key  *string
		name string
	}{
		{&l.TimeKey, "time"}, {&l.LevelKey, "level"}, {&l.MessageKey, "message"}, {&l.ErrorKey, "error"},
		{&l.CallerKey, "caller"}, {&l.StackKey, "stack"}, {&l.LoggerKey, "logger"}, {&l.TimeFormat, defaultTimeFormat},
	} {
		if *k.key == "" {
			*k.key = k.name
		}
	}
	if l.TimeZone == nil {
		l.TimeZone = time.UTC
	}
	if l.LevelName == nil {
		l.LevelName = Level.String
	}
	f := &format{Layout: l, time: jsonenc.CompileTime(l.TimeFormat)}
	f.fraction = f.time.Fraction()
	f.timeKey, f.levelKey = f.encodedKey(l.TimeKey), f.encodedKey(l.LevelKey)
	f.messageKey, f.loggerKey = f.encodedKey(l.MessageKey), f.encodedKey(l.LoggerKey)
	f.encodedKey(l.CallerKey)
	f.encodedKey(l.StackKey)
	for i := range f.levels {
		f.levels[i] = f.encodeLevel(LevelTrace + Level(4*i))
	}
	if l.Static != nil {
		f.static = string(buildFields((&Logger{core: &core{format: f, state: new(state)}}).seal(), nil, l.Static))
	}
	return f
}

// encodedKey gives `,"key":` and reserves the key, or "" when it is left out.
func (f *format) encodedKey(key string) string {
	if key == OmitKey {
		return ""
	}
	f.reserved = append(f.reserved, reservedPrefix+key)
	f.watched |= 1 << keyBit(key)
	return string(jsonenc.AppendKey(nil, key))
}

func (f *format) encodeLevel(l Level) string {
	if f.levelKey == "" {
		return ""
	}
	return string(jsonenc.AppendString([]byte(f.levelKey), f.levelName(l)))
}

// levelName names a level, in nib's way if the layout's function panics.
func (f *format) levelName(l Level) (name string) {
	defer func() {
		if recover() != nil {
			name = l.String()
		}
	}()
	return f.LevelName(l)
}

// level gives the encoded level field. Unnamed levels are encoded once and
// kept, unless they are so far out that a program must be making them up.
func (f *format) level(l Level) string {
	if i, ok := level.Index(int(l)); ok {
		return f.levels[i]
	}
	const far = 1 << 10
	if l < -far || l > far {
		return f.encodeLevel(l)
	}
	id := uintptr(l + 2*far) // never 0, which marks a free place
	s := f.otherLevels.Get(id)
	if s == nil {
		s = f.otherLevels.Put(id, f.encodeLevel(l))
	}
	return *s
}

// renamed gives the key in place of one that nib keeps for itself at the top
// level, and otherwise key.
func (f *format) renamed(key string) string {
	for _, k := range f.reserved {
		if k[len(reservedPrefix):] == key {
			return k
		}
	}
	return key
}

// rename gives the reserved ones among encoded fields the keys they would have
// been given under this layout. end is what the fields lack to be complete.
func (f *format) rename(fields, end string) string {
	if fields == "" {
		return ""
	}
	var out, name []byte
	for k, v := range jsonscan.Fields([]byte(fields + end)) {
		name, _ = jsonscan.AppendUnquoted(name[:0], append(append([]byte{'"'}, k...), '"'))
		out = append(out, ',', '"')
		if len(f.renamed(string(name))) > len(name) {
			out = append(out, reservedPrefix...)
		}
		out = append(append(append(out, k...), '"', ':'), v...)
	}
	return string(out[:len(out)-len(end)])
}

// zone is the zone that a time is shown in which came in zone own.
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
