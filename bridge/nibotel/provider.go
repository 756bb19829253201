// SPDX-License-Identifier: Apache-2.0

package nibotel

import (
	"context"
	"time"

	"github.com/nib-log/nib"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
)

var (
	_ log.LoggerProvider = (*provider)(nil)
	_ log.Logger         = (*scopeLogger)(nil)
)

type provider struct {
	embedded.LoggerProvider
	log *nib.Logger
}

// NewLoggerProvider returns a log.LoggerProvider that writes the records of
// OpenTelemetry's Logs API to l. The scope of a record is the name of the
// logger, which rules apply to; the body is the message if it is a string, and
// otherwise the field body. A severity is the level with the same name. The
// level of l applies. The version of a scope and its attributes are bound
// fields of the lines.
func NewLoggerProvider(l *nib.Logger) log.LoggerProvider { return &provider{log: l} }

// Logger implements log.LoggerProvider.
func (p *provider) Logger(name string, options ...log.LoggerOption) log.Logger {
	c := log.NewLoggerConfig(options...)
	version, attributes := c.InstrumentationVersion(), c.InstrumentationAttributes()
	l := p.log.Named(name).With(func(e *nib.Event) {
		if version != "" {
			e.Str("scope_version", version)
		}
		for _, a := range attributes.ToSlice() {
			addAttribute(e, a)
		}
	})
	return &scopeLogger{log: l}
}

// A scopeLogger is the log.Logger of a scope.
type scopeLogger struct {
	embedded.Logger
	log *nib.Logger
}

// levelOf returns the level of a severity. There are four severities for each
// name.
func levelOf(s log.Severity) nib.Level {
	switch {
	case s <= log.SeverityUndefined:
		return nib.LevelInfo
	case s >= log.SeverityFatal:
		return nib.LevelFatal + nib.Level(s-log.SeverityFatal)
	}
	return nib.LevelTrace + nib.Level(s-log.SeverityTrace)
}

// Enabled implements log.Logger.
func (s *scopeLogger) Enabled(_ context.Context, p log.EnabledParameters) bool {
	return s.log.Enabled(levelOf(p.Severity))
}

// Emit implements log.Logger. It never exits.
func (s *scopeLogger) Emit(ctx context.Context, r log.Record) {
	level := levelOf(r.Severity())
	if !s.log.Enabled(level) {
		return
	}
	en := nib.Entry{Time: r.Timestamp(), Level: level}
	if en.Time.IsZero() {
		en.Time = r.ObservedTimestamp()
	}
	if en.Time.IsZero() {
		en.Time = time.Now()
	}
	body := r.Body()
	if body.Type() == attribute.STRING {
		en.Message = body.AsString()
	}
	e := s.log.Entry(en)
	if e == nil {
		return
	}
	e.Ctx(ctx)
	if name := r.EventName(); name != "" {
		e.Str("event", name)
	}
	if t := body.Type(); t != attribute.STRING && t != attribute.EMPTY {
		addAttribute(e, attribute.KeyValue{Key: "body", Value: body})
	}
	r.WalkAttributes(func(a attribute.KeyValue) bool {
		addAttribute(e, a)
		return true
	})
	if err := r.Err(); err != nil {
		e.Err(err)
	}
	e.Send()
}

// addAttribute adds an attribute as a field.
func addAttribute(e *nib.Event, a attribute.KeyValue) {
	key, v := string(a.Key), a.Value
	switch v.Type() {
	case attribute.BOOL:
		e.Bool(key, v.AsBool())
	case attribute.INT64:
		e.Int64(key, v.AsInt64())
	case attribute.FLOAT64:
		e.Float64(key, v.AsFloat64())
	case attribute.STRING:
		e.Str(key, v.AsString())
	case attribute.BYTESLICE:
		e.Base64(key, v.AsByteSlice())
	case attribute.MAP:
		e.Dict(key, func(e *nib.Event) {
			for _, m := range v.AsMap() {
				addAttribute(e, m)
			}
		})
	case attribute.EMPTY:
		e.Any(key, nil)
	default:
		e.Array(key, func(l *nib.Array) { addElements(l, v) })
	}
}

// addElements adds the elements of a slice.
func addElements(l *nib.Array, v attribute.Value) {
	switch v.Type() {
	case attribute.BOOLSLICE:
		for _, x := range v.AsBoolSlice() {
			l.Bool(x)
		}
	case attribute.INT64SLICE:
		for _, x := range v.AsInt64Slice() {
			l.Int(x)
		}
	case attribute.FLOAT64SLICE:
		for _, x := range v.AsFloat64Slice() {
			l.Float(x)
		}
	case attribute.STRINGSLICE:
		for _, x := range v.AsStringSlice() {
			l.Str(x)
		}
	case attribute.SLICE:
		for _, x := range v.AsSlice() {
			addElement(l, x)
		}
	}
}

// addElement adds any value.
func addElement(l *nib.Array, v attribute.Value) {
	switch v.Type() {
	case attribute.BOOL:
		l.Bool(v.AsBool())
	case attribute.INT64:
		l.Int(v.AsInt64())
	case attribute.FLOAT64:
		l.Float(v.AsFloat64())
	case attribute.STRING:
		l.Str(v.AsString())
	case attribute.BYTESLICE:
		l.Any(v.AsByteSlice())
	case attribute.MAP:
		l.Dict(func(e *nib.Event) {
			for _, m := range v.AsMap() {
				addAttribute(e, m)
			}
		})
	case attribute.EMPTY:
		l.Null()
	default:
		l.Array(func(l *nib.Array) { addElements(l, v) })
	}
}
