// SPDX-License-Identifier: Apache-2.0

package jsonschema

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/plan"
)

var (
	typeText     = reflect.TypeFor[encoding.TextMarshaler]()
	typeDuration = reflect.TypeFor[time.Duration]()

	null   = object{{"type", "null"}}
	masked = object{{"const", "***"}}
)

// simple returns the schema of a type that has no parts and is not a pointer.
func simple(p *plan.Plan) any {
	switch p.Form() {
	case plan.FormNone:
		return false
	case plan.FormAny:
		return true
	case plan.FormMask:
		return masked
	case plan.FormTime:
		return object{{"type", "string"}, {"format", "date-time"}}
	case plan.FormBytes:
		return object{{"type", list{"string", "null"}}, {"contentEncoding", "base64"}}
	case plan.FormText:
		if k := p.Type().Kind(); k == reflect.Pointer || k == reflect.Interface {
			return object{{"type", list{"string", "null"}}}
		}
		return object{{"type", "string"}}
	}
	return scalar(p, "", false)
}

func isScalar(p *plan.Plan) bool {
	switch p.Form() {
	case plan.FormString, plan.FormInteger, plan.FormFloat, plan.FormBool, plan.FormNumber:
		return true
	}
	return false
}

var units = map[string]string{"s": "seconds", "ms": "milliseconds", "us": "microseconds",
	"ns": "nanoseconds"}

// Patterns of scalars that are written as strings, and of the names that
// integers as keys become. String is JSON within JSON.
const (
	patternUint   = `^(0|[1-9][0-9]*)$`
	patternInt    = `^(0|-?[1-9][0-9]*)$`
	patternNumber = `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`
	patternFloat  = `^(-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?|NaN|[+-]Inf)$`
	patternBool   = `^(true|false)$`
	patternString = `^".*"$`
)

// scalar returns the schema of a scalar, with the unit and the quotes that the
// tags of a field may request.
func scalar(p *plan.Plan, unit string, quoted bool) object {
	t := p.Type()
	if t == typeDuration && unit == "" {
		unit = "ns"
	}
	var o object
	var pattern string
	switch {
	case unit != "" && unit != "ns" || p.Form() == plan.FormNumber:
		o, pattern = object{{"type", "number"}}, patternNumber
	case p.Form() == plan.FormInteger:
		o, pattern = integer(t), integerPattern(t)
	case p.Form() == plan.FormFloat:
		o, pattern = object{{"anyOf", list{object{{"type", "number"}},
			object{{"enum", list{"NaN", "+Inf", "-Inf"}}}}}}, patternFloat
	case p.Form() == plan.FormBool:
		o, pattern = object{{"type", "boolean"}}, patternBool
	default:
		o, pattern = object{{"type", "string"}}, patternString
	}
	if quoted {
		o = object{{"type", "string"}, {"pattern", pattern}}
	}
	if unit != "" {
		o = append(o, member{"description", "duration in " + units[unit]})
	}
	return o
}

// integer returns the schema of an integer type.
func integer(t reflect.Type) object {
	o := object{{"type", "integer"}}
	switch k := t.Kind(); {
	case k == reflect.Int:
		return o
	case k < reflect.Uint:
		most := int64(math.MaxInt64) >> (64 - t.Bits())
		return append(o, member{"minimum", -most - 1}, member{"maximum", most})
	case k == reflect.Uint || k == reflect.Uintptr:
		return append(o, member{"minimum", uint64(0)})
	}
	return append(o, member{"minimum", uint64(0)},
		member{"maximum", uint64(math.MaxUint64) >> (64 - t.Bits())})
}

func integerPattern(t reflect.Type) string {
	if t.Kind() >= reflect.Uint {
		return patternUint
	}
	return patternInt
}

// keyPattern returns the pattern of the names that keys of a type become, or ""
// if the names are unknown.
func keyPattern(key reflect.Type) string {
	if k := key.Kind(); k < reflect.Int || k > reflect.Uintptr || key.Implements(typeText) {
		return ""
	}
	return integerPattern(key)
}

// nullable returns a schema for which null is valid as well.
func nullable(v any) any {
	o, ok := v.(object)
	if !ok {
		if v == true {
			return true
		}
		return null
	}
	switch first := o[0]; first.key {
	case "type":
		types, many := first.value.(list)
		if !many {
			types = list{first.value}
		}
		if !slices.Contains(types, any("null")) {
			types = slices.Concat(types, list{"null"})
		}
		return append(object{{"type", types}}, o[1:]...)
	case "anyOf":
		return append(object{{"anyOf", slices.Concat(first.value.(list), list{null})}}, o[1:]...)
	}
	return object{{"anyOf", list{o, null}}}
}
