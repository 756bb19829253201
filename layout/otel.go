// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"runtime"
	"strconv"

	"github.com/nib-log/nib"
)

// OTel returns a layout for the OpenTelemetry Collector, with the names of the
// log data model and of the semantic conventions:
//
//	{"Timestamp":"2026-01-02T15:04:05.000000000Z","SeverityText":"INFO",…fields…,"Body":"…"}
//
// It is not OTLP: there a record is an object deep within a request, and each
// attribute is a separate object. It is a flat line, which the filelog receiver
// (or any other with its operators) turns into a complete record:
//
//	operators:
//	  - type: json_parser
//	    timestamp:
//	      parse_from: attributes.Timestamp
//	      layout_type: gotime
//	      layout: '2006-01-02T15:04:05.000000000Z07:00'
//	    severity:
//	      parse_from: attributes.SeverityText
//	  - type: scope_name_parser
//	    if: attributes["otel.scope.name"] != nil
//	    parse_from: attributes["otel.scope.name"]
//	  - type: move
//	    if: attributes.Body != nil
//	    from: attributes.Body
//	    to: body
//	  - type: remove
//	    field: attributes.Timestamp
//	  - type: remove
//	    field: attributes.SeverityText
//
// The remaining fields become the attributes of the record. The keys come from
// https://opentelemetry.io/docs/specs/otel/logs/data-model/ and
// https://opentelemetry.io/docs/specs/semconv/ (version 1.43):
//
//   - Timestamp: UTC, with nanoseconds, as text: a JSON number would be read as
//     a float64, which has no room for them
//   - SeverityText: the short name of a SeverityNumber. The number is the level
//     plus 9, at most 24, as in OpenTelemetry's own bridge for slog: TRACE,
//     DEBUG, INFO, INFO2 for nib.LevelInfo+1, WARN, ERROR, FATAL for panic and
//     FATAL4 for fatal. The receiver accepts these names, so there is no field
//     for the number
//   - Body: the message
//   - otel.scope.name: the name of the logger
//   - code.file.path, code.line.number, code.function.name: with nib.WithCaller
//     the call site
//   - exception.message, exception.type: added by Err; the type is the Go type
//   - code.stacktrace: the stack
//
// Durations are seconds. A trace is tied to its lines by the fields trace_id,
// span_id and trace_flags, added with nib.WithContextFields
// (https://opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context/),
// and the operator trace_parser.
func OTel() nib.Layout {
	return nib.Layout{
		TimeKey:    "Timestamp",
		LevelKey:   "SeverityText",
		MessageKey: "Body",
		ErrorKey:   "exception.message",
		CallerKey:  "code.file.path",
		StackKey:   "code.stacktrace",
		LoggerKey:  "otel.scope.name",
		TimeFormat: fixedNanos,
		Duration:   nib.DurationSeconds,
		LevelName:  severityText,
		Error:      errorAndType("exception.type"),
		Caller:     codeAttributes,
	}
}

// severityText returns the short name of the SeverityNumber of a level. There
// are six names with four numbers each; the first of four is the name alone.
func severityText(l nib.Level) string {
	names := [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
	n := int(min(max(l, nib.LevelTrace), nib.LevelTrace+nib.Level(4*len(names)-1)) - nib.LevelTrace)
	if n%4 == 0 {
		return names[n/4]
	}
	return names[n/4] + strconv.Itoa(n%4+1)
}

// codeAttributes adds a call site as the attributes of the code group.
func codeAttributes(e *nib.Event, key string, f runtime.Frame) {
	e.Str(key, f.File).Int("code.line.number", f.Line).Str("code.function.name", f.Function)
}
