// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

// add adds a value as Event.Any does, but always adds the text of an error, and
// adds logrus.Fields as an object like any map. The most frequent types are
// handled here: Event.Any would do the same, with one more call.
func add(e *nib.Event, key string, value any) {
	switch v := value.(type) {
	case string:
		e.Str(key, v)
	case int:
		e.Int(key, v)
	case int64:
		e.Int64(key, v)
	case uint64:
		e.Uint64(key, v)
	case float64:
		e.Float64(key, v)
	case bool:
		e.Bool(key, v)
	case time.Duration:
		e.Dur(key, v)
	case time.Time:
		e.Time(key, v)
	case logrus.Fields:
		e.Object(key, fields(v))
	case map[string]any:
		e.Object(key, fields(v))
	case []any:
		addSlice(e, key, v, addElement)
	case []logrus.Fields:
		addSlice(e, key, v, func(a *nib.Array, m logrus.Fields) { a.Object(fields(m)) })
	case []map[string]any:
		addSlice(e, key, v, func(a *nib.Array, m map[string]any) { a.Object(fields(m)) })
	case error:
		e.AnErr(key, v)
	default:
		e.Any(key, v)
	}
}

func addSlice[T any](e *nib.Event, key string, values []T, add func(*nib.Array, T)) {
	if values == nil {
		e.Any(key, nil)
		return
	}
	e.Array(key, func(a *nib.Array) {
		for _, v := range values {
			add(a, v)
		}
	})
}

// addElement is add for the elements of a slice.
func addElement(a *nib.Array, value any) {
	switch v := value.(type) {
	case logrus.Fields:
		a.Object(fields(v))
	case map[string]any:
		a.Object(fields(v))
	case []any:
		if v == nil {
			a.Null()
			return
		}
		a.Array(func(a *nib.Array) {
			for _, v := range v {
				addElement(a, v)
			}
		})
	case error:
		a.Err(v)
	default:
		a.Any(v)
	}
}

// fields is an object with sorted keys.
type fields map[string]any

var lists = sync.Pool{New: func() any { return new(list) }}

// MarshalNib adds the fields in the order of their keys.
func (f fields) MarshalNib(e *nib.Event) { addSorted(e, f, add) }

// addSorted calls add for the fields of m in the order of their keys.
func addSorted(e *nib.Event, m map[string]any, add func(*nib.Event, string, any)) {
	l := lists.Get().(*list)
	for k, v := range m {
		l.field(0, k, v)
	}
	l.sort()
	for _, p := range l.order {
		it := &l.items[p.at]
		add(e, it.key, it.value)
	}
	l.reset()
	lists.Put(l)
}
