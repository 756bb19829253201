// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"sync"

	"github.com/nib-log/nib/internal/jsonenc"
)

// A mapping is the part of a plan that is specific to a map type.
type mapping struct {
	key    *Plan // decides how keys become names: codeString, an integer, or codeText
	elems  reflect.Type
	spares sync.Pool // pool of *gathered
}

// A gathered is a copy of the entries of a map, for sorting. It is empty while
// it is in a pool.
type gathered struct {
	iter  reflect.MapIter
	key   reflect.Value // a value of the type of the keys
	elems reflect.Value // slice of the type of the elements
	order
	text []byte // text of names that are not strings
}

// keepEntries is the maximum number of entries of a gathered that is kept in a
// pool.
const keepEntries = 1 << 10

// fillMap is fillKind for maps.
func (m *maker) fillMap(p *Plan) {
	t := p.typ.Type
	name := m.plan(t.Key(), false)
	switch {
	case name.Pointee().code == codeMask:
		name = nil // all names would be the same
	case t.Key().Kind() == reflect.String:
		name = m.variant(name, codeString, nil)
	case t.Key().Implements(typeText):
		name = m.variant(name, codeText, nil)
		p.props.calls = true
	case scalar(t.Key().Kind()) && codeOf(t.Key()) <= codeUint8:
		name = m.variant(name, codeOf(t.Key()), nil)
	default:
		name = nil
	}
	if name == nil {
		p.code, p.props.bad = codeNone, failure(&json.UnsupportedTypeError{Type: t})
		return
	}
	p.elem, p.size = m.plan(t.Elem(), false), t.Elem().Size()
	if c, ok := strMaps[p.elem.code]; ok && name.code == codeString {
		p.code = c
		return
	}
	p.keyed = &mapping{key: name, elems: reflect.SliceOf(t.Elem())}
}

// mapping appends the map m.
func (p *Plan) mapping(dst []byte, m pointer, st State) ([]byte, *Error) {
	if m == nil {
		return append(dst, "null"...), nil
	}
	if st.Depth <= 0 {
		return dst, failure(ErrDepth)
	}
	r := reflect.ValueOf(pack(p.typ.self, m))
	n := r.Len()
	if n == 0 {
		return append(dst, "{}"...), nil
	}
	g := p.keyed.take(n)
	if err := p.gather(g, r); err != nil {
		return dst, err
	}
	g.sort()
	start := len(dst)
	data, st := g.elems.UnsafePointer(), st.within(1)
	var err *Error
	for _, at := range g.places {
		name, v := g.name(at), add(data, uintptr(g.index(at))*p.size)
		full := st.full(dst)
		if dst = jsonenc.AppendKey(dst, name); full {
			dst, err = st.cut(dst)
		} else {
			dst, err = p.elem.value(dst, v, st)
		}
		if err != nil {
			return dst, err.inKey(name)
		}
		if full {
			break
		}
	}
	p.keyed.give(g)
	dst[start] = '{'
	return append(dst, '}'), nil
}

// take returns a gathered with room for n entries. It comes from the pool and
// is returned to it on success. A gathered that a user method has abandoned, by
// a panic or runtime.Goexit, is left to the garbage collector. So methods may
// encode maps of the same type while it is in use.
func (k *mapping) take(n int) *gathered {
	g, _ := k.spares.Get().(*gathered)
	if g == nil {
		g = &gathered{key: reflect.New(k.key.typ.Type).Elem(), elems: reflect.New(k.elems).Elem()}
	}
	if g.elems.Cap() < n {
		g.elems.Set(reflect.MakeSlice(k.elems, n+n/2, n+n/2))
	}
	g.elems.SetLen(g.elems.Cap())
	return g
}

func (k *mapping) give(g *gathered) {
	if len(g.names) > keepEntries {
		return
	}
	g.iter.Reset(reflect.Value{})
	g.key.SetZero()
	g.elems.SetLen(len(g.names))
	g.elems.Clear()
	g.order.clear()
	g.text = g.text[:0]
	k.spares.Put(g)
}

// gather copies the entries of r. A map that changes during the call is a data
// race of the caller, unless a method of a key changes it: then there may be
// more entries than before.
func (p *Plan) gather(g *gathered, r reflect.Value) *Error {
	g.iter.Reset(r)
	for i := 0; g.iter.Next(); i++ {
		g.key.SetIterKey(&g.iter)
		if i == g.elems.Len() {
			more := reflect.MakeSlice(p.keyed.elems, 2*i, 2*i)
			reflect.Copy(more, g.elems)
			g.elems.Set(more)
		}
		g.elems.Index(i).SetIterValue(&g.iter)
		name, err := p.nameOf(g)
		if err != nil {
			return err
		}
		g.names = append(g.names, name)
	}
	return nil
}

// nameOf returns the name for the key of g.
func (p *Plan) nameOf(g *gathered) (string, *Error) {
	k := p.keyed.key
	if k.code == codeString {
		return g.key.String(), nil
	}
	start := len(g.text)
	at := g.key.Addr().UnsafePointer()
	if k.code != codeText {
		g.text = k.scalar(g.text, at)
	} else if r := k.typ.receiver(at); r != nil {
		if k.hides(r) {
			return "", failure(&json.UnsupportedTypeError{Type: reflect.TypeOf(r)})
		}
		text, err := r.(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return "", failure(&keyError{p.typ.Type, err})
		}
		g.text = append(g.text, text...)
	} else if k.typ.kind == reflect.Interface {
		return "", failure(errNilKey)
	}
	// When text grows, earlier names keep referring to the old array.
	return viewString(g.text[start:]), nil
}

// A keyError is an error of the MarshalText of a key. Error formats its text
// without package fmt, because err is user code.
type keyError struct {
	typ reflect.Type
	err error
}

func (e *keyError) Error() string {
	return "json: encoding error for type " + strconv.Quote(e.typ.String()) + ": " + e.err.Error()
}

func (e *keyError) Unwrap() error { return e.err }

// errNilKey is the error for a key with which encoding/json panics. A nil
// pointer becomes the empty name.
var errNilKey = errors.New("json: the key of a map is a nil interface")
