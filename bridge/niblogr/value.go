// SPDX-License-Identifier: Apache-2.0

package niblogr

import (
	"fmt"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"github.com/nib-log/nib"
)

// noValue is the value of a last key that has none.
const noValue = "!ERROR: no value"

// add adds alternating keys and values.
func add(e *nib.Event, keysAndValues []any) {
	if e == nil {
		return
	}
	for len(keysAndValues) > 1 {
		if key, ok := keysAndValues[0].(string); ok {
			addValue(e, key, keysAndValues[1])
		} else {
			addNamed(e, keysAndValues[0], keysAndValues[1])
		}
		keysAndValues = keysAndValues[2:]
	}
	if len(keysAndValues) == 1 {
		addNamed(e, keysAndValues[0], noValue)
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
	text = fmt.Sprintf("%T", key)
	if key != nil {
		if k := reflect.TypeOf(key).Kind(); k <= reflect.Complex128 || k == reflect.String {
			defer func() { _ = recover() }()
			text = fmt.Sprint(key)
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
	case logr.Marshaler:
		e.Func(func(e *nib.Event) { addMarshaler(e, key, v) })
	case nib.Marshaler:
		e.Object(key, v)
	default:
		addText(e, key, value)
	}
}

// addText prefers the text of a value to its JSON: logr's users expect that,
// and a MarshalLog method exists to avoid it.
func addText(e *nib.Event, key string, value any) {
	switch v := value.(type) {
	case time.Duration, time.Time, nib.Marshaler:
		e.Any(key, v)
	case error:
		e.AnErr(key, v)
	case fmt.Stringer:
		e.Stringer(key, v)
	default:
		e.Any(key, v)
	}
}

// addMarshaler runs within Event.Func, which handles a method that ends the
// goroutine or logs itself.
func addMarshaler(e *nib.Event, key string, m logr.Marshaler) {
	value, panicked := marshalLog(m)
	if panicked != nil {
		value = panics{panicked}
	}
	addText(e, key, value)
}

func marshalLog(m logr.Marshaler) (value, panicked any) {
	defer func() { panicked = recover() }()
	return m.MarshalLog(), nil
}

// A panics panics again when nib calls String.
type panics struct{ value any }

func (p panics) String() string { panic(p.value) }
