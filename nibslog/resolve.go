// SPDX-License-Identifier: Apache-2.0

package nibslog

import (
	"log/slog"
	"runtime"

	"github.com/nib-log/nib/internal/usercode"
)

// logValue guards LogValue. If it panics on nil, the value is null.
func logValue(lv slog.LogValuer) (v slog.Value) {
	defer func() {
		if p := recover(); p != nil {
			if v = panicValue(p); usercode.IsNil(lv) {
				v = slog.Value{}
			}
		}
	}()
	return lv.LogValue()
}

func panicValue(p any) slog.Value { return slog.StringValue("!PANIC: " + usercode.PanicText(p)) }

// source returns the place of a program counter. It is empty when that is 0.
func source(pc uintptr) *slog.Source {
	if pc == 0 {
		return &slog.Source{}
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return &slog.Source{Function: f.Function, File: f.File, Line: f.Line}
}
