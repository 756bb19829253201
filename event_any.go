// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/plan"
	"github.com/nib-log/nib/internal/usercode"
)

// Any adds a value of any type: a [Marshaler] as an object, an error as its
// text, the types of package log/slog as that package shows them, a
// [slog.LogValuer] as the value that it returns, numbers, strings, times and
// durations as their own methods write them, everything else as encoding/json
// does, without HTML escaping. That holds for the elements of slices and maps
// and the fields of structs, too. A value that cannot be encoded becomes a text
// beginning with "!ERROR: ".
//
// Go boxes a value that is neither a constant nor a pointer before nib is
// called, also when the level is off; the typed methods have no such cost.
func (e *Event) Any(key string, v any) *Event {
	if e != nil {
		e.any(key, v)
	}
	return e
}

func (e *Event) any(key string, v any) {
	if e.beginField(key) {
		e.addAny(v)
	}
}

// keepKeys limits the room for sorting keys that an event keeps.
const keepKeys = 1024

// Fields adds the entries of m in the order of their keys, each as Any does.
func (e *Event) Fields(m map[string]any) *Event {
	if e == nil {
		return nil
	}
	from := len(e.keys)
	for k := range m {
		e.keys = append(e.keys, k)
	}
	slices.Sort(e.keys[from:])
	for i := from; i < len(e.keys) && !(*parts)(e).isFull(); i++ {
		e.any(e.keys[i], m[e.keys[i]])
	}
	clear(e.keys[from:])
	e.keys = e.keys[:from]
	if cap(e.keys) > keepKeys && from == 0 {
		e.keys = nil
	}
	return e
}

// Type adds the name of the type of v.
func (e *Event) Type(key string, v any) *Event {
	if e != nil && e.beginField(key) {
		if v == nil {
			e.null()
		} else {
			e.buf = jsonenc.AppendString(e.buf, reflect.TypeOf(v).String())
		}
	}
	return e
}

// RawJSON adds a value that is JSON already. It is checked and compacted to one
// line; a value that is invalid, or nested more than 32 deep, becomes a string,
// and nil is null.
func (e *Event) RawJSON(key string, raw []byte) *Event {
	if e != nil && e.beginField(key) {
		e.addRaw(raw)
	}
	return e
}

// Stringer adds the text of s; nil is null.
func (e *Event) Stringer(key string, s fmt.Stringer) *Event {
	if e != nil && e.beginField(key) {
		e.addStringer(s)
	}
	return e
}

// Err adds err in the layout's format and under its error key; nil is null.
func (e *Event) Err(err error) *Event {
	if e != nil {
		e.addLayoutError(err)
	}
	return e
}

// AnErr adds err under key; nil is null.
func (e *Event) AnErr(key string, err error) *Event {
	if e != nil && e.beginField(key) {
		e.addError(err)
	}
	return e
}

// addAny appends a value of any type.
func (e *Event) addAny(v any) {
	switch v := v.(type) {
	case nil:
		e.null()
	case string:
		e.buf = jsonenc.AppendString(e.buf, v)
	case bool:
		e.buf = jsonenc.AppendBool(e.buf, v)
	case int:
		e.buf = jsonenc.AppendInt(e.buf, int64(v))
	case int8:
		e.buf = jsonenc.AppendInt(e.buf, int64(v))
	case int16:
		e.buf = jsonenc.AppendInt(e.buf, int64(v))
	case int32:
		e.buf = jsonenc.AppendInt(e.buf, int64(v))
	case int64:
		e.buf = jsonenc.AppendInt(e.buf, v)
	case uint:
		e.buf = jsonenc.AppendUint(e.buf, uint64(v))
	case uint8:
		e.buf = jsonenc.AppendUint(e.buf, uint64(v))
	case uint16:
		e.buf = jsonenc.AppendUint(e.buf, uint64(v))
	case uint32:
		e.buf = jsonenc.AppendUint(e.buf, uint64(v))
	case uint64:
		e.buf = jsonenc.AppendUint(e.buf, v)
	case float32:
		e.buf = jsonenc.AppendFloat32(e.buf, v)
	case float64:
		e.buf = jsonenc.AppendFloat64(e.buf, v)
	case time.Time:
		e.addTime(v)
	case time.Duration:
		e.buf = e.log.core.format.appendDuration(e.buf, v)
	case json.RawMessage:
		e.addRaw(v)
	case map[string]any:
		e.addMap(v)
	case []any:
		addSlice(e, v, (*Event).addAny)
	case []error:
		addSlice(e, v, (*Event).addError)
	default:
		e.addOther(v)
	}
}

// parts is an Event as plans see it: the Event of a plan.Line.
type parts Event

// state returns where a value stands that a plan encodes next.
func (p *parts) state() plan.State {
	p.line.Max = p.log.core.sizeLimit
	return plan.State{Depth: maxDepth - int(p.depth), Line: &p.line}
}

// AppendPart implements the Event of a plan.Line. v is part of a value that a
// plan is encoding. If the plan runs under guard, inValue forbids fields:
// AppendPart allows them, in dst, until it returns.
func (p *parts) AppendPart(dst []byte, v any, depth int) []byte {
	e := (*Event)(p)
	line, outer, reserved, place := e.buf, e.depth, e.reservedBits, e.flags&inPlace
	e.buf, e.depth = dst, max(int32(maxDepth-depth), 1) // 0 would begin another line: see enter
	e.reservedBits, e.flags = noneReserved, e.flags&^inPlace|nested
	e.addAny(v)
	dst = e.buf
	e.buf, e.depth = line, outer
	e.reservedBits, e.flags = reserved, e.flags&^inPlace|place
	return dst
}

// addOther appends a value that addAny has no case for. Its type has a form of
// its own in lines, or a plan, which calls AppendPart for the parts of the
// value that have such a form.
func (e *Event) addOther(v any) {
	switch v := v.(type) {
	case slog.Value:
		e.addLogValue(v)
		return
	case slog.Attr:
		e.addLogValue(slog.GroupValue(v))
		return
	case []slog.Attr:
		e.addLogValue(slog.GroupValue(v...))
		return
	case interface{ IsSecret() }:
	case Marshaler:
		e.addMarshaler(v)
		return
	case slog.LogValuer:
		e.addLogValue(slog.AnyValue(v))
		return
	case json.Marshaler:
	case error:
		e.addError(v)
		return
	}
	st := (*parts)(e).state()
	plans := e.log.core.format.plans
	if !plans.RunsCode(v) {
		buf, err := plans.AppendAny(e.buf, v, st)
		if err != nil && usercode.IsNil(v) { // a nil func, for example
			buf, err = append(buf, "null"...), nil
		}
		e.setValue(buf, err)
		return
	}
	e.setValue(e.marshal(func(dst []byte) ([]byte, error) { return plans.AppendAny(dst, v, st) }))
}

func (e *Event) addRaw(raw []byte) {
	if raw == nil {
		e.null()
		return
	}
	buf, err := jsonread.AppendCompact(e.buf, raw, maxDepth)
	if err != nil {
		buf = jsonenc.AppendBytes(e.buf, raw)
	}
	e.buf = buf
}

// addMap appends an object with sorted keys.
func (e *Event) addMap(m map[string]any) {
	if m == nil {
		e.null()
		return
	}
	if s, ok := e.beginContainer(0); ok {
		e.Fields(m)
		e.enclose(s.from, "{}")
		e.leave(s)
	}
}

func addSlice[T any](e *Event, vs []T, add func(*Event, T)) {
	if vs == nil {
		e.null()
		return
	}
	if s, ok := e.beginContainer(inArray); ok {
		for _, v := range vs {
			if e.buf = append(e.buf, ','); (*parts)(e).isFull() {
				e.buf = jsonenc.AppendString(e.buf, largeText)
				break
			}
			add(e, v)
		}
		e.enclose(s.from, "[]")
		e.leave(s)
	}
}

func (e *Event) addError(err error) {
	if usercode.IsNil(err) {
		e.null()
	} else if usercode.HasPlainText(err) {
		e.buf = jsonenc.AppendString(e.buf, err.Error())
	} else if _, ok := err.(interface{ IsSecret() }); ok {
		e.addOther(err)
	} else {
		e.buf = jsonenc.AppendString(e.buf, e.callText(err.Error))
	}
}

func (e *Event) addStringer(s fmt.Stringer) {
	if usercode.IsNil(s) {
		e.null()
		return
	}
	e.buf = jsonenc.AppendString(e.buf, e.callText(s.String))
}

func (e *Event) addLayoutError(err error) {
	f := e.log.core.format
	if f.ErrorKey == OmitKey || e.isClosed() {
		return
	}
	e.claimErrorKeys()
	if f.Error == nil || usercode.IsNil(err) {
		e.buf = append(e.buf, f.errorField...)
		e.addError(err)
		return
	}
	e.run(func(e *Event) {
		e.flags |= inError // until run returns
		f.Error(e, f.ErrorKey, err)
	})
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
	v := e.resolve(a.Value)
	if a.Key == "" && v.Kind() == slog.KindAny && v.Any() == nil {
		return
	}
	if v.Kind() == slog.KindGroup {
		e.group(a.Key, v.Group())
		return
	}
	if e.beginField(a.Key) {
		e.addSlogValue(v)
	}
}

// resolve returns the value that v stands for, which is no LogValuer.
func (e *Event) resolve(v slog.Value) slog.Value {
	if v.Kind() == slog.KindLogValuer {
		v = usercode.Resolve(v, e.callLogValue)
	}
	if v.Kind() == slog.KindAny {
		if source, ok := v.Any().(*slog.Source); ok {
			return callsite.SourceGroup(source)
		}
	}
	return v
}

// group adds an object, or nothing if no attribute of it is shown.
func (e *Event) group(key string, attrs []slog.Attr) {
	if key == "" {
		// At this level, which still counts as nesting, because the value of a
		// LogValuer may contain itself.
		if s, why := e.enter(maxDepth, 0); why == "" {
			e.attrs(attrs)
			e.leave(s)
		} else {
			e.str(depthKey, why)
		}
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

// addLogValue appends any of slog's values.
func (e *Event) addLogValue(v slog.Value) {
	if v = e.resolve(v); v.Kind() != slog.KindGroup {
		e.addSlogValue(v)
	} else if s, ok := e.beginContainer(0); ok {
		e.attrs(v.Group())
		e.enclose(s.from, "{}")
		e.leave(s)
	}
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
		e.addAny(v.Any())
	}
}
