// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
)

// hot reports whether an operation has its own case in members.
func (c code) hot() bool {
	switch c {
	case codeString, codeInt64, codeInt32, codeUint64, codeUint8, codeBool, codeFloat64, codeMillis,
		codeStrings, codeTime:
		return true
	}
	return false
}

// members appends the members of the struct at v, with a comma before each. The
// caller has checked that p.inner containers may nest.
func (p *Plan) members(dst []byte, v pointer, st State) ([]byte, *Error) {
	for o := &p.ops[0]; ; o = o.next() {
		at := add(v, uintptr(o.off))
		if o.omit != omitNever {
			if o.omit == omitLen && len(load[string](at)) == 0 ||
				o.omit == omitNil && load[pointer](at) == nil {
				continue // the most frequent reasons; a slice begins like a string
			}
			if o.skips(at) {
				continue
			}
		}
		switch o.code {
		case codeString:
			dst = jsonenc.AppendTextString(dst, &o.text, load[string](at))
		case codeInt64:
			dst = jsonenc.AppendTextInt(dst, &o.text, load[int64](at))
		case codeInt32:
			dst = jsonenc.AppendTextInt(dst, &o.text, int64(load[int32](at)))
		case codeUint64:
			dst = jsonenc.AppendTextUint(dst, &o.text, load[uint64](at))
		case codeUint8:
			dst = jsonenc.AppendTextUint(dst, &o.text, uint64(load[uint8](at)))
		case codeBool:
			dst = jsonenc.AppendTextBool(dst, &o.text, load[bool](at))
		case codeFloat64:
			dst = jsonenc.AppendTextFloat64(dst, &o.text, load[float64](at))
		case codeMillis:
			dst = jsonenc.AppendTextMillis(dst, &o.text, load[time.Duration](at))
		case codeConst:
			dst = jsonenc.AppendText(dst, &o.text)
		case codeEnd:
			return dst, nil
		case codeStrings:
			var err *Error
			dst, err = appendStrings(
				jsonenc.AppendText(dst, &o.text), load[[]string](at), st.within(int(o.nest)))
			if err != nil {
				return dst, err.in(p.stepOf(o))
			}
		case codeTime:
			if out, ok := jsonenc.AppendTextRFC3339(dst, &o.text, (*time.Time)(at)); ok {
				dst = out
				continue
			}
			fallthrough
		default:
			var err *Error
			if dst, err = o.append(dst, at, st.within(int(o.nest))); err != nil {
				return dst, err.in(p.stepOf(o))
			}
		}
	}
}

// append encodes an operation that members does not handle inline.
func (o *op) append(dst []byte, at pointer, st State) ([]byte, *Error) {
	if o.code == codeEmbed {
		at = load[pointer](at)
		if at == nil {
			return dst, nil
		}
		if st.Depth < o.sub.inner {
			return dst, failure(ErrDepth)
		}
		return o.sub.members(dst, at, st)
	}
	dst = jsonenc.AppendText(dst, &o.text)
	switch p := o.sub; p.code {
	case codeStruct:
		return p.object(dst, at, st)
	case codePointer:
		if q := load[pointer](at); q != nil && p.elem.code == codeStruct {
			return p.elem.object(dst, q, st)
		}
	}
	return o.sub.value(dst, at, st)
}

// appendStrings appends a list of strings.
func appendStrings(dst []byte, list []string, st State) ([]byte, *Error) {
	if list == nil {
		return append(dst, "null"...), nil
	}
	if st.Depth <= 0 {
		return dst, failure(ErrDepth)
	}
	return jsonenc.AppendStrings(dst, list), nil
}

// object appends the struct at v.
func (p *Plan) object(dst []byte, v pointer, st State) ([]byte, *Error) {
	if st.Depth <= p.inner {
		return dst, failure(ErrDepth)
	}
	if st.full(dst) {
		return st.cut(dst)
	}
	start := len(dst)
	dst, err := p.members(dst, v, st.within(1))
	if err != nil {
		return dst, err
	}
	if len(dst) == start {
		return append(dst, "{}"...), nil
	}
	dst[start] = '{'
	return append(dst, '}'), nil
}

// value appends the value at v.
func (p *Plan) value(dst []byte, v pointer, st State) ([]byte, *Error) {
	switch p.code {
	case codeStruct:
		return p.object(dst, v, st)
	case codePointer:
		return p.pointee(dst, load[pointer](v), st)
	case codeSlice:
		data, n := loadSlice(v)
		if data == nil {
			return append(dst, "null"...), nil
		}
		return p.elements(dst, data, n, st)
	case codeStrings:
		return appendStrings(dst, load[[]string](v), st)
	case codeArray:
		return p.elements(dst, v, p.n, st)
	case codeAny:
		return p.set.appendAny(dst, load[any](v), st)
	case codeInterface:
		return p.set.appendAny(dst, loadInterface(v), st)
	case codeMap:
		return p.mapping(dst, load[pointer](v), st)
	case codeMapAny:
		return p.set.appendMapAny(dst, load[map[string]any](v), st)
	case codeMapString:
		return appendStrMap(p.set, dst, load[map[string]string](v), st, putString, &spareString)
	case codeMapInt64:
		return appendStrMap(p.set, dst, load[map[string]int64](v), st, putInt, &spareInt)
	case codeMapFloat64:
		return appendStrMap(p.set, dst, load[map[string]float64](v), st, putFloat, &spareFloat)
	case codeMapBool:
		return appendStrMap(p.set, dst, load[map[string]bool](v), st, putBool, &spareBool)
	case codeTime:
		return appendTime(dst, v)
	case codeInstant:
		return p.set.appendTime(dst, v), nil
	case codeJSON:
		return p.callJSON(dst, v, st)
	case codeText:
		return p.callText(dst, v, st)
	case codeLine:
		return st.appendPart(dst, p, v)
	case codeAddress:
		return p.address(dst, v)
	case codeRaw:
		return appendRaw(dst, load[[]byte](v), st)
	case codeQuoted:
		return p.elem.quoted(dst, v)
	case codeNumber:
		return appendNumber(dst, load[string](v))
	case codeNone:
		return dst, failure(p.props.bad.Err)
	}
	return p.scalar(dst, v), nil
}

// scalar appends a value that cannot fail.
func (p *Plan) scalar(dst []byte, v pointer) []byte {
	switch p.code {
	case codeString:
		return jsonenc.AppendString(dst, load[string](v))
	case codeInt64:
		return jsonenc.AppendInt(dst, load[int64](v))
	case codeInt32:
		return jsonenc.AppendInt(dst, int64(load[int32](v)))
	case codeInt16:
		return jsonenc.AppendInt(dst, int64(load[int16](v)))
	case codeInt8:
		return jsonenc.AppendInt(dst, int64(load[int8](v)))
	case codeUint64:
		return jsonenc.AppendUint(dst, load[uint64](v))
	case codeUint32:
		return jsonenc.AppendUint(dst, uint64(load[uint32](v)))
	case codeUint16:
		return jsonenc.AppendUint(dst, uint64(load[uint16](v)))
	case codeUint8:
		return jsonenc.AppendUint(dst, uint64(load[uint8](v)))
	case codeBool:
		return jsonenc.AppendBool(dst, load[bool](v))
	case codeFloat64:
		return jsonenc.AppendFloat64(dst, load[float64](v))
	case codeFloat32:
		return jsonenc.AppendFloat32(dst, load[float32](v))
	case codeMicros:
		return jsonenc.AppendMicros(dst, load[time.Duration](v))
	case codeMillis:
		return jsonenc.AppendMillis(dst, load[time.Duration](v))
	case codeSeconds:
		return jsonenc.AppendSeconds(dst, load[time.Duration](v))
	case codeSpan:
		return jsonenc.AppendDurationString(dst, load[time.Duration](v))
	case codeMask:
		return append(dst, masked...)
	case codeBytes:
		if b := load[[]byte](v); b != nil {
			return jsonenc.AppendBase64(dst, b)
		}
	}
	return append(dst, "null"...)
}

// pointee appends the value that a pointer points to.
func (p *Plan) pointee(dst []byte, v pointer, st State) ([]byte, *Error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	if p.link {
		if st.Depth <= 0 {
			return dst, failure(ErrDepth)
		}
		st.Depth--
	}
	return p.elem.value(dst, v, st)
}

// elements appends the n values from data on as an array.
func (p *Plan) elements(dst []byte, data pointer, n int, st State) ([]byte, *Error) {
	if st.Depth <= 0 {
		return dst, failure(ErrDepth)
	}
	if n == 0 {
		return append(dst, "[]"...), nil
	}
	start, st := len(dst), st.within(1)
	var err *Error
	for i := 0; i < n; {
		if st.full(dst) {
			if dst, err = st.cut(append(dst, ',')); err != nil {
				return dst, err
			}
			break
		}
		for end := min(n, i+32); i < end; i++ {
			dst, err = p.elem.value(append(dst, ','), add(data, uintptr(i)*p.size), st)
			if err != nil {
				return dst, err.inElement(i)
			}
		}
	}
	dst[start] = '['
	return append(dst, ']'), nil
}

// quoted appends the scalar at v within quotes.
func (p *Plan) quoted(dst []byte, v pointer) ([]byte, *Error) {
	start := len(dst)
	dst = append(dst, '"')
	var err *Error
	if dst, err = p.value(dst, v, State{}); err != nil {
		return dst, err
	}
	if dst[start+1] != '"' {
		return append(dst, '"'), nil
	}
	if p.code != codeString { // NaN and the infinities have their quotes
		return append(dst[:start], dst[start+1:]...), nil
	}
	// Encode the JSON text of the string, including its quotes, as a string:
	// append the result, then move it to the start.
	end := len(dst)
	dst = jsonenc.AppendBytes(dst, dst[start+1:])
	n := copy(dst[start:], dst[end:])
	return dst[:start+n], nil
}
