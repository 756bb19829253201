// SPDX-License-Identifier: Apache-2.0

package nibhclog

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/nib-log/nib"
)

// add adds alternating keys and values, and a value without a key as hclog
// does.
func add(e *nib.Event, args []any) {
	if e == nil {
		return
	}
	for len(args) > 1 {
		if key, ok := args[0].(string); ok {
			addValue(e, key, args[1])
		} else {
			addNamed(e, args[0], args[1])
		}
		args = args[2:]
	}
	if len(args) == 1 {
		if stack, ok := args[0].(hclog.CapturedStacktrace); ok {
			e.Str("stacktrace", string(stack))
			return
		}
		addValue(e, hclog.MissingKey, args[0])
	}
}

// addNamed adds a value whose key is not a string. It runs within Event.Func,
// which counts the line as aborted if a method of the key ends the goroutine.
func addNamed(e *nib.Event, key, value any) {
	e.Func(func(e *nib.Event) { addValue(e, keyOf(key), value) })
}

// keyOf returns the text of a key, or its type. It is the type, too, if the
// String method panics with a value whose own method panics: package fmt
// catches only the first.
func keyOf(key any) (text string) {
	if s, ok := key.(string); ok {
		return s
	}
	text = fmt.Sprintf("%T", key)
	if key != nil {
		if k := reflect.TypeOf(key).Kind(); k <= reflect.Complex128 || k == reflect.String {
			defer func() { _ = recover() }()
			text = fmt.Sprintf("%s", key)
		}
	}
	return text
}

// addValue adds one value. The most frequent types come first: Event.Any would
// do the same.
func addValue(e *nib.Event, key string, value any) {
	switch v := value.(type) {
	case string:
		e.Str(key, v)
	case int:
		e.Int(key, v)
	case int64:
		e.Int64(key, v)
	case bool:
		e.Bool(key, v)
	case time.Duration:
		e.Dur(key, v)
	case time.Time:
		e.Time(key, v)
	case hclog.Format:
		e.Stringer(key, format(v))
	case json.Marshaler:
		e.Any(key, v)
	case error:
		if m, ok := v.(encoding.TextMarshaler); ok {
			if p := reflect.ValueOf(v); p.Kind() != reflect.Pointer || !p.IsNil() {
				e.Stringer(key, text{m})
				return
			}
		}
		e.AnErr(key, v)
	default:
		e.Any(key, v)
	}
}

// A text is an error that implements encoding.TextMarshaler, whose text hclog
// prefers.
type text struct{ encoding.TextMarshaler }

func (t text) String() string {
	b, err := t.MarshalText()
	if err != nil {
		return "!ERROR: " + err.Error()
	}
	return string(b)
}

// A format is formatted when nib calls String, so that a panic affects the
// value only.
type format hclog.Format

func (f format) String() string {
	if len(f) == 0 {
		return ""
	}
	layout, ok := f[0].(string)
	if !ok {
		return fmt.Sprint([]any(f)...)
	}
	return fmt.Sprintf(layout, f[1:]...)
}

// merge returns the arguments of With: sorted by key, each key once, and a
// value without a key at the end.
func merge(old, args []any) []any {
	type pair struct {
		key   string
		value any
	}
	var pairs []pair
	for _, list := range [][]any{old, args} {
		for ; len(list) > 1; list = list[2:] {
			key := keyOf(list[0])
			i := slices.IndexFunc(pairs, func(p pair) bool { return p.key == key })
			if i < 0 {
				pairs, i = append(pairs, pair{key: key}), len(pairs)
			}
			pairs[i].value = list[1]
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	merged := make([]any, 0, 2*len(pairs)+2)
	for _, p := range pairs {
		merged = append(merged, p.key, p.value)
	}
	if len(args)%2 != 0 && args[len(args)-1] != nil {
		merged = append(merged, hclog.MissingKey, args[len(args)-1])
	}
	return merged
}
