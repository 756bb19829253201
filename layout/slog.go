// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/nib-log/nib"
)

// Slog returns the layout of [slog.JSONHandler]:
//
//	{"time":"2026-01-02T15:04:05.123456789+01:00","level":"INFO","msg":"…",…fields…}
//
// Times are [time.RFC3339Nano] in the zone they carry, durations are integer
// nanoseconds, and levels have the names of [slog.Level]: nib's trace is
// "DEBUG-4", panic "ERROR+4", fatal "ERROR+8". With nib.WithCaller the call
// site is written before the message as
//
//	"source":{"function":"main.main","file":"/src/app/main.go","line":12}
//
// The name of a logger is "logger", after the level; slog has none.
func Slog() nib.Layout {
	return nib.Layout{
		MessageKey:   slog.MessageKey,
		CallerKey:    slog.SourceKey,
		TimeFormat:   time.RFC3339Nano,
		KeepZone:     true,
		Duration:     nib.DurationNanos,
		LevelName:    func(l nib.Level) string { return slog.Level(l).String() },
		MessageFirst: true,
		Caller:       source,
	}
}

// source adds a call site as slog does: an object with the known fields.
func source(e *nib.Event, key string, f runtime.Frame) {
	e.Attrs(slog.Any(key, &slog.Source{Function: f.Function, File: f.File, Line: f.Line}))
}
