// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"runtime"
	"time"

	"github.com/nib-log/nib"
)

// Zerolog returns the layout of github.com/rs/zerolog with its default settings
// and a logger made with Timestamp:
//
//	{"time":"2026-01-02T15:04:05+01:00","level":"info",…fields…,"message":"…"}
//
// except for the order: zerolog has the level first, and the time and the
// caller last. The keys are level, time, message, error, caller and stack.
// Times are [time.RFC3339] in the zone they carry, durations are milliseconds,
// levels have the same names, and the call site is "/src/app/main.go:12".
//
// zerolog leaves out a nil error where nib writes null, and an empty message
// where nib writes "". Its stack is whatever zerolog.ErrorStackMarshaler makes
// of an error, often an array; nib's is one text. It has no named loggers;
// nib's name is "logger".
func Zerolog() nib.Layout {
	return nib.Layout{
		TimeKey:    "time",
		LevelKey:   "level",
		MessageKey: "message",
		ErrorKey:   "error",
		CallerKey:  "caller",
		StackKey:   "stack",
		LoggerKey:  "logger",
		TimeFormat: time.RFC3339,
		KeepZone:   true,
		Duration:   nib.DurationMillis,
		Caller: func(e *nib.Event, key string, f runtime.Frame) {
			e.Str(key, fileAndLine(f.File, f.Line))
		},
	}
}
