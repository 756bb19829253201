// SPDX-License-Identifier: Apache-2.0

package layout

import "github.com/nib-log/nib"

// Datadog returns the layout that Datadog understands without a pipeline:
//
//	{"timestamp":"2026-01-02T15:04:05.000Z","status":"info",…fields…,"message":"…"}
//
// The keys are the reserved attributes of logs and the standard attributes
// (https://docs.datadoghq.com/standard-attributes/). A path may be written as
// one key with dots:
//
//   - timestamp: UTC, with milliseconds, one of the default dates
//     (https://docs.datadoghq.com/logs/log_configuration/processors/log_date_remapper/)
//   - status: debug for trace and debug, info, notice from nib.LevelInfo+2 on,
//     warn, error, critical for panic, alert for fatal. nib's own names do not
//     work: Datadog reads "panic" as info
//     (https://docs.datadoghq.com/logs/log_configuration/processors/log_status_remapper/)
//   - message
//   - logger.name: the name of the logger
//   - error.message, error.kind: added by Err, the kind being the Go type
//   - error.stack: the stack, of the goroutine that logs
//
// Durations are integer nanoseconds, as in the attribute duration. Datadog has
// no attribute for a call site; with nib.WithCaller it is "caller", as in the
// default layout. The ids that middleware and bridges add are trace_id and
// span_id, in hexadecimal as in OpenTelemetry
// (https://docs.datadoghq.com/opentelemetry/correlate/logs_and_traces/). The
// service is the field service: bind it with Logger.With.
func Datadog() nib.Layout {
	return nib.Layout{
		TimeKey:    "timestamp",
		LevelKey:   "status",
		MessageKey: "message",
		ErrorKey:   "error.message",
		StackKey:   "error.stack",
		LoggerKey:  "logger.name",
		Duration:   nib.DurationNanos,
		LevelName:  func(l nib.Level) string { return datadogStatus[stepOf(l)] },
		Error:      errorAndType("error.kind"),
	}
}

var datadogStatus = [steps]string{
	debug: "debug", info: "info", notice: "notice", warning: "warn",
	failure: "error", critical: "critical", alert: "alert",
}
