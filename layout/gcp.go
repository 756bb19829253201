// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"runtime"
	"strconv"

	"github.com/nib-log/nib"
)

// GCP returns the layout that Google Cloud reads from standard output (Cloud
// Run, GKE, Cloud Functions, the Ops Agent):
//
//	{"time":"2026-01-02T15:04:05.000000000Z","severity":"INFO",…fields…,"message":"…"}
//
// The keys are the special fields of structured logging
// (https://cloud.google.com/logging/docs/structured-logging#special-payload-fields),
// and the severities are defined by LogSeverity
// (https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#LogSeverity):
//
//   - time: UTC, with nanoseconds
//   - severity: DEBUG for trace and debug, INFO, NOTICE from nib.LevelInfo+2
//     on, WARNING, ERROR, CRITICAL for panic, ALERT for fatal
//   - message: the text of the line in the console
//   - logging.googleapis.com/sourceLocation: with nib.WithCaller the call site
//     as {"file":"/src/app/main.go","line":"12","function":"main.main"}; the
//     line is a string, as in the JSON of every 64-bit integer of Google's
//   - stack_trace: the stack
//
// Error Reporting looks for a stack in stack_trace, too, but of a Go program it
// only understands the text of [runtime/debug.Stack], which has a line
// "goroutine 1 [running]:" and the arguments of the calls
// (https://cloud.google.com/error-reporting/docs/formatting-error-messages).
// For Error Reporting, set StackKey to nib.OmitKey and add that text to a line:
//
//	e.Bytes("stack_trace", debug.Stack())
//
// Google has no keys for the text of an error and the name of a logger; they
// are "error" and "logger". Traces are tied to lines by the fields
// logging.googleapis.com/trace and logging.googleapis.com/spanId: add them with
// nib.WithContextFields.
func GCP() nib.Layout {
	return nib.Layout{
		TimeKey:    "time",
		LevelKey:   "severity",
		MessageKey: "message",
		CallerKey:  "logging.googleapis.com/sourceLocation",
		StackKey:   "stack_trace",
		TimeFormat: fixedNanos,
		LevelName:  func(l nib.Level) string { return gcpSeverities[stepOf(l)] },
		Caller:     gcpSource,
	}
}

var gcpSeverities = [steps]string{
	debug: "DEBUG", info: "INFO", notice: "NOTICE", warning: "WARNING",
	failure: "ERROR", critical: "CRITICAL", alert: "ALERT",
}

// gcpSource adds a call site as a LogEntrySourceLocation.
func gcpSource(e *nib.Event, key string, f runtime.Frame) {
	e.Dict(key, func(e *nib.Event) {
		e.Str("file", f.File).Str("line", strconv.Itoa(f.Line)).Str("function", f.Function)
	})
}
