// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/usercode"
)

// Ctx adds the bound fields of the Logger that ctx carries (see [NewContext]),
// except those that the line already has, and the fields that
// [WithContextFields] takes from ctx. The former are added at the top level of
// the line, even if groups are open: With and AppendFields omit them then.
func (e *Event) Ctx(ctx context.Context) *Event {
	if ctx == nil || !e.isActive() {
		return e
	}
	if ctx != context.Background() && e.flags&(nested|inValue) == 0 {
		var carried *Logger
		e.run(func(*Event) { carried, _ = ctx.Value(contract.LoggerKey{}).(*Logger) })
		switch {
		case carried == nil || carried == e.log || carried.bound == "":
		case !e.log.groups.any():
			e.addCarried(carried)
		case e.flags&building == 0:
			e.carried = append(e.carried, carried) // until the groups end
		}
	}
	if f := e.log.core.contextFields; f != nil {
		e.run(func(e *Event) { f(ctx, e) })
	}
	return e
}

// addCarried adds the bound fields of l that the line does not have. Usually
// one logger is derived from the other. If the fields of l begin with those of
// e's logger, the rest is appended as bytes, unless keys may be equal or an
// error renames some. Otherwise each field of l is looked up in the line.
func (e *Event) addCarried(l *Logger) {
	own, theirs := e.log, l.bound
	if f := own.core.format; l.core.format == f {
		if extends(own.bound, theirs) {
			return
		}
		if l.groups.open == 0 && !own.groups.any() && extends(theirs, own.bound) {
			theirs = theirs[len(own.bound):]
			if (e.flags|own.boundFlags|l.boundFlags)&(building|hasError|hasErrorKey) == 0 && !jsonread.MayShareKey(e.buf[e.fieldsAt+len(f.static)+len(own.bound):], theirs) {
				e.buf = append(e.buf, theirs...)
				return
			}
		}
	}
	place := e.flags & inError
	if l.boundFlags&hasError != 0 && !e.hasError() && l.core.format.ErrorKey == own.core.format.ErrorKey {
		e.claimErrorKeys()
		e.flags |= inError // the keys of l's error are not renamed
	}
	e.scratch = append(append(e.scratch[:0], theirs...), l.groups.closing()...)
	for key, value := range jsonread.Missing(e.buf, e.scratch) {
		if e.beginField(string(key)) {
			e.buf = append(e.buf, value...)
		}
	}
	e.keepScratch(e.scratch)
	e.flags = e.flags&^inError | place
}

// extends reports whether encoded fields begin with the fields prefix.
func extends(fields, prefix string) bool {
	return strings.HasPrefix(fields, prefix) && (len(fields) == len(prefix) || fields[len(prefix)] == ',')
}

// Attrs adds slog's attributes with slog's semantics: a LogValuer is resolved,
// an empty attribute and an empty group are left out, the attributes of a group
// without a key are added at this level. 0 allocs when they hold plain values.
func (e *Event) Attrs(attrs ...slog.Attr) *Event {
	if e != nil {
		e.attrs(attrs)
	}
	return e
}

// attrs adds attributes. It handles the most frequent kinds without a further
// call, which saves a quarter of the time.
func (e *Event) attrs(attrs []slog.Attr) {
	for i := range attrs {
		a := &attrs[i]
		switch a.Value.Kind() {
		case slog.KindString:
			e.str(a.Key, a.Value.String())
		case slog.KindInt64:
			e.int(a.Key, a.Value.Int64())
		case slog.KindBool:
			e.bool(a.Key, a.Value.Bool())
		case slog.KindDuration:
			if d := a.Value.Duration(); e.log.core.format.Duration == DurationNanos {
				e.int(a.Key, int64(d))
			} else {
				e.dur(a.Key, d)
			}
		default:
			e.attr(a)
		}
	}
}

// attr adds any attribute.
func (e *Event) attr(a *slog.Attr) {
	if e.isClosed() {
		return
	}
	v := a.Value
	if v.Kind() == slog.KindLogValuer {
		v = usercode.Resolve(v, e.callLogValue)
	}
	if v.Kind() == slog.KindAny {
		switch x := v.Any().(type) {
		case nil:
			if a.Key == "" {
				return
			}
		case *slog.Source:
			v = callsite.SourceGroup(x)
		}
	}
	if v.Kind() == slog.KindGroup {
		e.group(a.Key, v.Group())
		return
	}
	if e.beginField(a.Key) {
		e.addSlogValue(v)
	}
}

// group adds an object, or nothing if no attribute of it is shown.
func (e *Event) group(key string, attrs []slog.Attr) {
	if key == "" {
		e.inline(attrs)
		return
	}
	from := len(e.buf)
	if len(attrs) == 0 || !e.beginField(key) {
		return
	}
	s, ok := e.beginContainer(0)
	if !ok {
		return
	}
	if e.attrs(attrs); len(e.buf) == s.from {
		e.buf = e.buf[:from]
	} else {
		e.enclose(s.from, "{}")
	}
	e.leave(s)
}

// inline adds the attributes of a group without a key at this level. It still
// counts as nesting, because the value of a LogValuer may contain itself.
func (e *Event) inline(attrs []slog.Attr) {
	s, why := e.enter(maxDepth, 0)
	if why != "" {
		e.str(depthKey, why)
		return
	}
	e.attrs(attrs)
	e.leave(s)
}

// addSlogValue appends a resolved value that is not a group.
func (e *Event) addSlogValue(v slog.Value) {
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
// unless they marshal themselves.
func (e *Event) addSlogAny(v any) {
	if err, ok := v.(error); !ok {
		e.addAny(v)
	} else if _, ok := v.(json.Marshaler); ok {
		e.addOther(v)
	} else {
		e.addError(err)
	}
}
