// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonscan"
)

// A jsonEncoder runs encoding/json into a buffer that is kept.
type jsonEncoder struct {
	enc *json.Encoder
	buf []byte
}

// Write implements io.Writer for enc.
func (j *jsonEncoder) Write(p []byte) (int, error) {
	j.buf = append(j.buf, p...)
	return len(p), nil
}

var jsonEncoders = sync.Pool{New: func() any {
	j := new(jsonEncoder)
	j.enc = json.NewEncoder(j)
	j.enc.SetEscapeHTML(false)
	return j
}}

// addJSON appends what encoding/json makes of v, or why it could not.
func (e *Event) addJSON(v any) {
	if isNil(v) {
		e.null()
		return
	}
	if deeper(reflect.ValueOf(v), maxDepth-int(e.nest), maxDepth) {
		e.buf = append(e.buf, `"!ERROR: nested deeper than 32"`...)
		return
	}
	j := jsonEncoders.Get().(*jsonEncoder)
	j.buf = j.buf[:0]
	text, ok := e.marshal(j, v)
	if e.nest < 0 {
		return
	}
	if ok {
		buf, err := jsonscanCompact(e.buf, j.buf)
		if err == nil {
			e.buf = buf
		} else {
			text, ok = "!ERROR: "+err.Error(), false
		}
	}
	if !ok {
		e.buf = jsonenc.AppendString(e.buf, text)
	}
	if cap(j.buf) <= keepSize {
		jsonEncoders.Put(j)
	}
}

// marshal runs the encoder, which runs user code.
func (e *Event) marshal(j *jsonEncoder, v any) (text string, ok bool) {
	done := false
	s, why := e.suspend()
	if why != "" {
		return why, false
	}
	defer func() {
		if !done {
			text, ok = e.failure(recover())
			ok = false
		}
		e.resume(s)
	}()
	err := j.enc.Encode(v)
	done = true
	if err != nil {
		return "!ERROR: " + err.Error(), false
	}
	return "", true
}

func jsonscanCompact(dst, raw []byte) ([]byte, error) {
	return jsonscan.AppendCompact(dst, raw, maxDepth)
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// deeper reports whether v nests containers more than depth deep. encoding/json
// has no limit: it would follow a value of any depth until the stack is full,
// which ends the process.
func deeper(v reflect.Value, depth, links int) bool {
	if !v.IsValid() {
		return false
	}
	if t := v.Type(); t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		// A chain of pointers has an end too: *any can point at itself.
		return links <= 0 || deeper(v.Elem(), depth, links-1)
	case reflect.Struct:
		return depth <= 0 || deeperStruct(v, depth-1)
	case reflect.Map:
		if depth <= 0 {
			return true
		}
		for it := v.MapRange(); it.Next(); {
			if deeper(it.Value(), depth-1, maxDepth) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if depth <= 0 {
			return true
		}
		if scalar(v.Type().Elem().Kind()) {
			return false
		}
		for i := range v.Len() {
			if deeper(v.Index(i), depth-1, maxDepth) {
				return true
			}
		}
	}
	return false
}

func deeperStruct(v reflect.Value, depth int) bool {
	t := v.Type()
	for i := range v.NumField() {
		f := t.Field(i)
		if scalar(f.Type.Kind()) || !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		if deeper(v.Field(i), depth, maxDepth) {
			return true
		}
	}
	return false
}

func scalar(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String
}
