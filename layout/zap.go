// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"fmt"

	"github.com/nib-log/nib"
)

// Zap returns the layout of go.uber.org/zap as zap.NewProduction sets it up
// (zap.NewProductionEncoderConfig):
//
//	{"level":"info","ts":1767366245,"msg":"…",…fields…}
//
// except that nib writes ts before level. The keys are level, ts, logger,
// caller ("app/main.go:12"), msg, error and stacktrace. Durations and times are
// seconds, levels have nib's names, which are zap's; nib has trace as well, and
// writes a nil error as null where zap leaves it out.
//
// Err writes error, errorVerbose for errors that print more with %+v, and
// errorCauses for groups of errors (those with a method Errors() []error), as
// zap does. The stack ends in the runtime's frame and a newline, which zap
// leaves out.
//
// zap's seconds have a fraction. nib writes times as whole numbers of one unit
// or as text, and here whole seconds, so that readers which expect seconds are
// right. Where the fraction matters more, set TimeFormat to
// "2006-01-02T15:04:05.000Z07:00", like zapcore.RFC3339TimeEncoder, or to
// nib.TimeUnixNano, which is zapcore.EpochNanosTimeEncoder.
func Zap() nib.Layout {
	return nib.Layout{
		TimeKey:      "ts",
		LevelKey:     "level",
		MessageKey:   "msg",
		ErrorKey:     "error",
		CallerKey:    "caller",
		StackKey:     "stacktrace",
		LoggerKey:    "logger",
		TimeFormat:   nib.TimeUnix,
		Duration:     nib.DurationSeconds,
		MessageFirst: true,
		Error:        zapError,
	}
}

// zapError adds an error as zap does. It allocates for errors that print more
// with %+v.
func zapError(e *nib.Event, key string, err error) {
	e.AnErr(key, err)
	switch err := err.(type) {
	case interface{ Errors() []error }:
		e.Array(key+"Causes", func(a *nib.Array) {
			for _, cause := range err.Errors() {
				if cause != nil {
					a.Dict(func(e *nib.Event) { zapError(e, "error", cause) })
				}
			}
		})
	case fmt.Formatter:
		if verbose := fmt.Sprintf("%+v", err); verbose != err.(error).Error() {
			e.Str(key+"Verbose", verbose)
		}
	}
}
