// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"log/slog"
	"reflect"
)

// maxResolve ends a chain of LogValuers that never returns a value, as in slog.
const maxResolve = 100

// Resolve calls LogValue, through call, until it returns a value.
func Resolve(v slog.Value, call func(slog.LogValuer) slog.Value) slog.Value {
	for range maxResolve {
		if v.Kind() != slog.KindLogValuer {
			return v
		}
		v = call(v.LogValuer())
	}
	return slog.StringValue("!ERROR: LogValue was called too often")
}

// IsNil reports whether v is nil, or a nil pointer, map, slice, func or chan.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan,
		reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}
