// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"runtime"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/callsite"
)

// ecsVersion is the version of the schema that the lines name. The fields used
// here are the same in all of 8 and 9.
const ecsVersion = "8.11.0"

// ECS returns the layout of the Elastic Common Schema, versions 8 and 9, in the
// form that the ECS loggers agree on:
//
//	{"@timestamp":"2026-01-02T15:04:05.000Z","log.level":"info","message":"…","ecs.version":"8.11.0",…fields…}
//
// The keys are defined by the ecs-logging specification
// (https://github.com/elastic/ecs-logging/blob/main/spec/spec.json); the field
// reference describes them (https://www.elastic.co/docs/reference/ecs):
//
//   - @timestamp: UTC, with milliseconds
//   - log.level: nib's name of the level
//   - log.logger: the name of the logger, after the level
//   - log.origin: with nib.WithCaller the call site, in front of the message,
//     as {"function":"main.main","file.name":"app/main.go","file.line":12}; the
//     object counts as log.origin.function, log.origin.file.name and
//     log.origin.file.line
//   - message: before the fields
//   - ecs.version: in each line
//   - error.message, error.type: added by Err; the type is the Go type
//   - error.stack_trace: the stack, of the goroutine that logs
//   - trace.id, span.id: the ids that middleware and bridges add
//
// Durations are integer nanoseconds, as in event.duration.
func ECS() nib.Layout {
	return nib.Layout{
		TimeKey:      "@timestamp",
		LevelKey:     "log.level",
		MessageKey:   "message",
		ErrorKey:     "error.message",
		CallerKey:    "log.origin",
		StackKey:     "error.stack_trace",
		LoggerKey:    "log.logger",
		TraceKey:     "trace.id",
		SpanKey:      "span.id",
		Duration:     nib.DurationNanos,
		MessageFirst: true,
		Static:       func(e *nib.Event) { e.Str("ecs.version", ecsVersion) },
		Error:        errorAndType("error.type"),
		Caller:       ecsOrigin,
	}
}

// ecsOrigin adds a call site as one object, so that one reserved key protects
// all of it.
func ecsOrigin(e *nib.Event, key string, f runtime.Frame) {
	e.Dict(key, func(e *nib.Event) {
		e.Str("function", f.Function).Str("file.name", callsite.ShortFile(f.File)).
			Int("file.line", f.Line)
	})
}
