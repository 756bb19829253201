// SPDX-License-Identifier: Apache-2.0

package nibslog

import (
	"log/slog"
	"reflect"
	"runtime"

	"github.com/nib-log/nib/internal/usercode"
)

// maxResolve ends a chain of LogValuers that never comes to a value, as in slog.
const maxResolve = 100

// resolve calls LogValue until there is a value, as nib does for attributes
// that ReplaceAttr does not see first.
func resolve(v slog.Value) slog.Value {
	for range maxResolve {
		if v.Kind() != slog.KindLogValuer {
			return v
		}
		v = logValue(v.LogValuer())
	}
	return slog.StringValue("!ERROR: LogValue was called too often")
}

// logValue guards LogValue. A nil that panics is null.
func logValue(lv slog.LogValuer) (v slog.Value) {
	defer func() {
		if p := recover(); p != nil {
			if v = panicValue(p); isNil(lv) {
				v = slog.Value{}
			}
		}
	}()
	return lv.LogValue()
}

func isNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return r.IsNil()
	}
	return false
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

// sourceGroup is what slog makes of a source: a group of what is known.
func sourceGroup(s *slog.Source) slog.Value {
	var known []slog.Attr
	if s != nil && s.Function != "" {
		known = append(known, slog.String("function", s.Function))
	}
	if s != nil && s.File != "" {
		known = append(known, slog.String("file", s.File))
	}
	if s != nil && s.Line != 0 {
		known = append(known, slog.Int("line", s.Line))
	}
	return slog.GroupValue(known...)
}
