// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"runtime"
	"strings"
	"time"

	"github.com/nib-log/nib"
)

// Logrus returns the layout of the JSONFormatter of github.com/sirupsen/logrus
// with its default settings:
//
//	{"time":"2026-01-02T15:04:05+01:00","level":"info","msg":"…",…fields…}
//
// except for the order: logrus sorts by key. The keys are level, msg, time,
// error, and with nib.WithCaller func and file ("/src/app/main.go:12"). Times
// are [time.RFC3339] in the zone they carry, durations are integer nanoseconds,
// and the level nib calls warn is "warning".
//
// The time fields of a logrus entry have nanoseconds; nib has one format for
// all times of a line. A field that has one of nib's keys becomes "field.msg"
// here, "fields.msg" there. logrus has no stacks and no named loggers; nib's
// are "stack" and "logger".
func Logrus() nib.Layout {
	return nib.Layout{
		TimeKey:      "time",
		LevelKey:     "level",
		MessageKey:   "msg",
		ErrorKey:     "error",
		CallerKey:    "file",
		TimeFormat:   time.RFC3339,
		KeepZone:     true,
		Duration:     nib.DurationNanos,
		LevelName:    logrusLevel,
		MessageFirst: true,
		Caller: func(e *nib.Event, key string, f runtime.Frame) {
			e.Str("func", f.Function).Str(key, fileAndLine(f.File, f.Line))
		},
	}
}

// logrusLevel returns nib's name, except for warn and the levels named after
// it.
func logrusLevel(l nib.Level) string {
	name := l.String()
	if offset, ok := strings.CutPrefix(name, "warn"); ok {
		return "warning" + offset
	}
	return name
}
