// SPDX-License-Identifier: Apache-2.0

package plan

import "reflect"

// A Form is the form of a value in JSON, for schemas.
type Form uint8

const (
	FormNone Form = iota // not a value that can be encoded
	FormString
	FormInteger // bounded by the range of the type
	FormFloat   // a number, or one of the strings "NaN", "+Inf", "-Inf"
	FormBool
	FormNumber  // a json.Number
	FormTime    // RFC 3339
	FormText    // the string of a method MarshalText, null for a nil pointer or interface
	FormBytes   // base64, null for nil
	FormMask    // "***"
	FormAny     // whatever an interface holds or a method MarshalJSON returns
	FormStruct  // an object with a Member for each of Fields
	FormMap     // an object of Elem, null for nil
	FormSlice   // an array of Elem, null for nil
	FormArray   // an array of Elem with the length of the type
	FormPointer // Elem, null for nil
)

// Form returns the form of the values of the plan's type. If the type does not
// write itself, it depends on the kind: some kinds have several codes.
func (p *Plan) Form() Form {
	switch p.code {
	case codeNone:
		return FormNone
	case codeMask:
		return FormMask
	case codeTime, codeInstant:
		return FormTime
	case codeNumber:
		return FormNumber
	case codeText, codeAddress:
		return FormText
	case codeBytes:
		return FormBytes
	case codeRaw, codeJSON:
		return FormAny
	}
	switch p.typ.kind {
	case reflect.String:
		return FormString
	case reflect.Bool:
		return FormBool
	case reflect.Float32, reflect.Float64:
		return FormFloat
	case reflect.Struct:
		return FormStruct
	case reflect.Map:
		return FormMap
	case reflect.Slice:
		return FormSlice
	case reflect.Array:
		return FormArray
	case reflect.Pointer:
		return FormPointer
	case reflect.Interface:
		return FormAny
	}
	return FormInteger
}

// Elem returns the plan of the elements of a map, slice or array, or of the
// target of a pointer; nil for any other plan.
func (p *Plan) Elem() *Plan { return p.elem }

// Member returns the plan of f, one of p's Fields, without the effect of its
// tags, and reports whether every value of p has that member.
func (p *Plan) Member(f *Field) (value *Plan, always bool) {
	addr := p.set.addressed.find(uintptr(p.typ.self)) == p
	always = !f.OmitZero && !(f.OmitEmpty && canBeEmpty(f.Type))
	t := p.typ.Type
	for _, i := range f.Index[:len(f.Index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			t, addr, always = t.Elem(), true, false
		}
	}
	if addr {
		return Of(f.Type), always
	}
	if value = p.set.values.find(uintptr(identity(f.Type))); value == nil {
		value = p.set.makePlan(f.Type, false)
	}
	return value, always
}

// canBeEmpty reports whether omitempty may leave out a value of t.
func canBeEmpty(t reflect.Type) bool {
	return whenEmpty(t) != omitNever || t.Kind() == reflect.Array && t.Len() == 0
}
