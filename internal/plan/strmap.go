// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"sync"

	"github.com/nib-log/nib/internal/jsonenc"
)

// AppendMap appends m with sorted keys, and its values as AppendAny does.
func AppendMap(dst []byte, m map[string]any, st State) ([]byte, error) {
	out, err := standard.appendMapAny(dst, m, st)
	if err != nil {
		return dst, err.of(reflect.TypeOf(m))
	}
	return out, nil
}

// An entry is a copy of an entry of a map, for sorting.
type entry[V any] struct {
	name  string
	value V
}

// entries are the entries of a map that has more than few.
type entries[V any] struct {
	order
	values []V
}

// The unused entries, by V. They are empty.
var spareAny, spareString, spareInt, spareFloat, spareBool sync.Pool

// A putter appends a member.
type putter[V any] func(s *Set, dst []byte, name string, value V, st State) ([]byte, *Error)

func putAny(s *Set, dst []byte, name string, value any, st State) ([]byte, *Error) {
	return s.appendAny(jsonenc.AppendKey(dst, name), value, st)
}

func putString(_ *Set, dst []byte, name, value string, _ State) ([]byte, *Error) {
	return jsonenc.AppendKeyString(dst, name, value), nil
}

func putInt(_ *Set, dst []byte, name string, value int64, _ State) ([]byte, *Error) {
	return jsonenc.AppendKeyInt(dst, name, value), nil
}

func putFloat(_ *Set, dst []byte, name string, value float64, _ State) ([]byte, *Error) {
	return jsonenc.AppendFloat64(jsonenc.AppendKey(dst, name), value), nil
}

func putBool(_ *Set, dst []byte, name string, value bool, _ State) ([]byte, *Error) {
	return jsonenc.AppendBool(jsonenc.AppendKey(dst, name), value), nil
}

// appendMapAny appends m with sorted keys.
func (s *Set) appendMapAny(dst []byte, m map[string]any, st State) ([]byte, *Error) {
	if n := len(m); st.Depth > 0 && n > 0 && n <= few && !st.full(dst) {
		return s.appendFewAny(dst, m, st.within(1))
	}
	return appendStrMap(s, dst, m, st, putAny, &spareAny)
}

// appendStrMap appends m with sorted keys.
func appendStrMap[V any](
	s *Set, dst []byte, m map[string]V, st State, put putter[V], spares *sync.Pool,
) ([]byte, *Error) {
	switch {
	case m == nil:
		return append(dst, "null"...), nil
	case st.Depth <= 0:
		return dst, failure(ErrDepth)
	case len(m) == 0:
		return append(dst, "{}"...), nil
	case st.full(dst):
		return st.cut(dst)
	case len(m) <= few:
		return appendFew(s, dst, m, st.within(1), put)
	}
	return appendMany(s, dst, m, st.within(1), put, spares)
}

// gatherFew copies the entries of m and sorts their places. It returns their
// number.
func gatherFew[V any](list *[few]entry[V], places *[few]place, m map[string]V) int {
	n := 0
	for name, value := range m {
		list[n&indexBits] = entry[V]{name, value}
		places[n&indexBits] = makePlace(name, n&indexBits)
		n++
	}
	n = min(n, few) // more only if the map changes concurrently, which is a data race
	sortFew(places, n, func(i int) string { return list[i].name })
	return n
}

// appendFew sorts on the stack.
func appendFew[V any](
	s *Set, dst []byte, m map[string]V, st State, put putter[V],
) ([]byte, *Error) {
	var list [few]entry[V]
	var places [few]place
	n := gatherFew(&list, &places, m)
	start := len(dst)
	for _, p := range places[:n] {
		e := &list[p.index()]
		var err *Error
		if dst, err = put(s, dst, e.name, e.value, st); err != nil {
			return dst, err.inKey(e.name)
		}
	}
	dst[start] = '{'
	return append(dst, '}'), nil
}

// appendFewAny is appendFew for the most frequent type: it saves an indirect
// call for each member.
func (s *Set) appendFewAny(dst []byte, m map[string]any, st State) ([]byte, *Error) {
	var list [few]entry[any]
	var places [few]place
	n := gatherFew(&list, &places, m)
	start := len(dst)
	for _, p := range places[:n] {
		e := &list[p.index()]
		switch v := e.value.(type) {
		case string:
			dst = jsonenc.AppendKeyString(dst, e.name, v)
		case int:
			dst = jsonenc.AppendKeyInt(dst, e.name, int64(v))
		default:
			var err *Error
			if dst, err = s.appendAny(jsonenc.AppendKey(dst, e.name), e.value, st); err != nil {
				return dst, err.inKey(e.name)
			}
		}
	}
	dst[start] = '{'
	return append(dst, '}'), nil
}

// appendMany sorts in memory of a pool. If a user method does not return, the
// memory is left to the garbage collector.
func appendMany[V any](
	s *Set, dst []byte, m map[string]V, st State, put putter[V], spares *sync.Pool,
) ([]byte, *Error) {
	e, _ := spares.Get().(*entries[V])
	if e == nil {
		e = new(entries[V])
	}
	for name, value := range m {
		e.names = append(e.names, name)
		e.values = append(e.values, value)
	}
	e.sort()
	start := len(dst)
	var err *Error
	for _, p := range e.places {
		name, full := e.name(p), st.full(dst)
		if full {
			dst, err = st.cut(jsonenc.AppendKey(dst, name))
		} else {
			dst, err = put(s, dst, name, e.values[e.index(p)], st)
		}
		if err != nil {
			return dst, err.inKey(name)
		}
		if full {
			break
		}
	}
	if len(e.names) <= keepEntries {
		e.order.clear()
		clear(e.values)
		e.values = e.values[:0]
		spares.Put(e)
	}
	dst[start] = '{'
	return append(dst, '}'), nil
}
