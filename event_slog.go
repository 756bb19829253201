// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
)

// LogAttrs writes a whole line in one call: level, message, what
// [WithContextFields] takes from ctx, and attrs, with slog's meaning of groups,
// empty attributes and LogValuers. It never exits or panics. 0 allocs when the
// attributes hold plain values.
//
//go:noinline
func (l *Logger) LogAttrs(ctx context.Context, level Level, msg string, attrs ...slog.Attr) {
	if l == nil || l.min > level || !l.wants(level) {
		return
	}
	var pc uintptr
	if l.core.caller {
		if pc = callsite.Fast(); pc == 0 {
			pc = callsite.PC(0)
		}
	}
	e := l.start(level, level, pc, &msg)
	e.Ctx(ctx)
	e.attrs(attrs)
	e.finish(msg, true)
}

// Attrs adds slog's attributes with slog's meaning: a LogValuer is resolved, an
// empty attribute and an empty group are left out, the attributes of a group
// without a key are added at this level.
func (e *Event) Attrs(attrs ...slog.Attr) *Event {
	if e != nil {
		e.attrs(attrs)
	}
	return e
}

func (e *Event) attrs(attrs []slog.Attr) {
	for i := range attrs {
		e.attr(&attrs[i])
	}
}

func (e *Event) attr(a *slog.Attr) {
	v := a.Value
	switch v.Kind() {
	case slog.KindString:
		e.str(a.Key, v.String())
		return
	case slog.KindInt64:
		e.int(a.Key, v.Int64())
		return
	case slog.KindLogValuer:
		if e.nest < 0 {
			e.misused("a field was added to a finished event")
			return
		}
		if v = e.resolve(v); e.nest < 0 {
			return
		}
	}
	if v.Kind() == slog.KindGroup {
		e.group(a.Key, v.Group())
		return
	}
	if a.Key == "" && v.Kind() == slog.KindAny && v.Any() == nil {
		return
	}
	if key, ok := e.key(a.Key); ok {
		e.buf = jsonenc.AppendKey(e.buf, key)
		e.addValue(v)
	}
}

// group adds an object, or nothing when no attribute of it is to be shown.
func (e *Event) group(key string, attrs []slog.Attr) {
	if key == "" {
		e.attrs(attrs)
		return
	}
	key, ok := e.key(key)
	if !ok || len(attrs) == 0 {
		return
	}
	from := len(e.buf)
	e.buf = jsonenc.AppendKey(e.buf, key)
	s, ok := e.enter(0)
	if !ok {
		return
	}
	e.attrs(attrs)
	if e.nest < 0 {
		return
	}
	if len(e.buf) == s.from {
		e.buf = e.buf[:from]
		e.restore(s)
		return
	}
	e.leave(s, "{}")
}

// addValue appends a resolved value that is not a group.
func (e *Event) addValue(v slog.Value) {
	switch v.Kind() {
	case slog.KindString:
		e.buf = jsonenc.AppendString(e.buf, v.String())
	case slog.KindInt64:
		e.buf = jsonenc.AppendInt(e.buf, v.Int64())
	case slog.KindUint64:
		e.buf = jsonenc.AppendUint(e.buf, v.Uint64())
	case slog.KindFloat64:
		e.buf = jsonenc.AppendFloat64(e.buf, v.Float64())
	case slog.KindBool:
		e.buf = jsonenc.AppendBool(e.buf, v.Bool())
	case slog.KindDuration:
		e.buf = e.log.core.format.appendDuration(e.buf, v.Duration())
	case slog.KindTime:
		e.addTime(v.Time())
	default:
		e.addSlogAny(v.Any())
	}
}

// addSlogAny appends a value as slog's own JSON handler would: errors as text
// unless they marshal themselves, slog's types in their own way.
func (e *Event) addSlogAny(v any) {
	switch v := v.(type) {
	case *slog.Source:
		if v == nil {
			e.null()
			return
		}
		e.addJSON(v)
	case slog.Value:
		e.addSlogValue(v)
	case error:
		if _, ok := v.(json.Marshaler); ok {
			e.addJSON(v)
			return
		}
		e.addError(v)
	default:
		e.addAny(v)
	}
}

// addSlogValue appends a slog.Value that was hidden in another one.
func (e *Event) addSlogValue(v slog.Value) {
	if v.Kind() == slog.KindLogValuer {
		if v = e.resolve(v); e.nest < 0 {
			return
		}
	}
	if v.Kind() != slog.KindGroup {
		e.addValue(v)
		return
	}
	if s, ok := e.enter(0); ok {
		e.attrs(v.Group())
		if e.nest >= 0 {
			e.leave(s, "{}")
		}
	}
}

// maxResolve ends a chain of LogValuers that never comes to a value, as in slog.
const maxResolve = 100

// resolve calls LogValue until there is a value.
func (e *Event) resolve(v slog.Value) slog.Value {
	for range maxResolve {
		if v.Kind() != slog.KindLogValuer {
			return v
		}
		lv := v.LogValuer()
		if isNil(lv) {
			return slog.Value{}
		}
		v = e.callLogValue(lv)
	}
	return slog.StringValue("!ERROR: LogValue was called too often")
}

func (e *Event) callLogValue(lv slog.LogValuer) (v slog.Value) {
	done := false
	e.nest++
	defer func() {
		if !done {
			text, _ := e.failure(recover())
			v = slog.StringValue(text)
		}
		if e.nest > 0 {
			e.nest--
		}
	}()
	v = lv.LogValue()
	done = true
	return v
}
