// SPDX-License-Identifier: Apache-2.0

package plan

import "reflect"

// A code selects how a value is written.
type code uint8

const (
	codeNone code = iota // cannot be encoded

	codeString
	codeInt64
	codeInt32
	codeInt16
	codeInt8
	codeUint64
	codeUint32
	codeUint16
	codeUint8
	codeBool
	codeFloat64
	codeFloat32
	codeNumber // json.Number
	codeMicros // time.Duration in a unit; in nanoseconds it is a codeInt64
	codeMillis
	codeSeconds
	codeSpan   // time.Duration as formatted by its String method
	codeQuoted // any of the above in quotes

	codeTime
	codeInstant // a time in the format of the set
	codeStruct
	codePointer
	codeInterface // an interface with methods
	codeAny       // without
	codeSlice
	codeArray
	codeStrings // slice of strings
	codeBytes   // base64
	codeRaw     // json.RawMessage
	codeMap
	codeMapAny // map[string]any, or of other types with the same layout
	codeMapString
	codeMapInt64
	codeMapFloat64
	codeMapBool
	codeJSON    // MarshalJSON
	codeText    // MarshalText
	codeAddress // MarshalText of an address (see isAddress), without a copy
	codeLine    // written by the line, see Line
	codeMask

	// Codes that only operations have.
	codePlan  // the value has a plan with another code
	codeConst // no value, only text
	codeEnd
	codeEmbed // the fields of an embedded pointer's struct
)

// strMaps are the maps from strings that need no reflection, by their elements.
var strMaps = map[code]code{
	codeAny: codeMapAny, codeString: codeMapString, codeInt64: codeMapInt64,
	codeFloat64: codeMapFloat64, codeBool: codeMapBool,
}

// codeOf returns how kinds without methods are written.
func codeOf(t reflect.Type) code {
	switch t.Kind() {
	case reflect.String:
		return codeString
	case reflect.Bool:
		return codeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return [...]code{1: codeInt8, 2: codeInt16, 4: codeInt32, 8: codeInt64}[t.Size()]
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		return [...]code{1: codeUint8, 2: codeUint16, 4: codeUint32, 8: codeUint64}[t.Size()]
	case reflect.Float32:
		return codeFloat32
	case reflect.Float64:
		return codeFloat64
	case reflect.Struct:
		return codeStruct
	case reflect.Pointer:
		return codePointer
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return codeAny
		}
		return codeInterface
	case reflect.Slice:
		return codeSlice
	case reflect.Array:
		return codeArray
	case reflect.Map:
		return codeMap
	}
	return codeNone
}
