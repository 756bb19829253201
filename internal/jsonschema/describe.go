// SPDX-License-Identifier: Apache-2.0

// Package jsonschema describes the output of a plan as a JSON Schema. Package
// schema documents the guarantees for its users.
package jsonschema

import (
	"reflect"

	"github.com/nib-log/nib/internal/plan"
)

// Of returns the schema of the output of p.
func Of(p *plan.Plan) []byte {
	d := describer{shapes: map[reflect.Type][]*shape{}, same: map[[2]*plan.Plan]bool{}}
	d.visit(p)
	d.name()
	root := object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}
	if to, _ := target(p); to != nil && to.Type().Name() != "" {
		root = append(root, member{"title", shortName(to.Type().Name())})
	}
	if body, ok := d.value(p).(object); ok { // otherwise it is true, which allows anything
		root = append(root, body...)
	}
	if len(d.shared) > 0 {
		root = append(root, member{"$defs", d.definitions()})
	}
	return append(root.appendLines(nil, ""), '\n')
}

// A describer makes one schema.
type describer struct {
	shapes map[reflect.Type][]*shape
	shared []*shape // the shapes under $defs, in the order in which they are met
	same   map[[2]*plan.Plan]bool
}

// definitions returns the members of $defs.
func (d *describer) definitions() object {
	var defs object
	for _, s := range d.shared {
		body := d.parts(s.plan)
		if title := shortName(s.plan.Type().Name()); title != s.name {
			body = append(object{{"title", title}}, body...)
		}
		defs = append(defs, member{s.name, body})
	}
	return defs
}

// value returns the schema of the values of p.
func (d *describer) value(p *plan.Plan) any {
	p, pointer := target(p)
	if p == nil {
		return null
	}
	var v any
	if s := d.shape(p); s != nil && s.shared {
		v = object{{"$ref", "#/$defs/" + s.name}}
	} else if hasParts(p) {
		v = d.parts(p)
	} else {
		v = simple(p)
	}
	if pointer {
		return nullable(v)
	}
	return v
}

// parts returns the inline schema of a type that has parts.
func (d *describer) parts(p *plan.Plan) object {
	switch p.Form() {
	case plan.FormStruct:
		return d.members(p)
	case plan.FormMap:
		o := object{{"type", list{"object", "null"}}}
		if pattern := keyPattern(p.Type().Key()); pattern != "" {
			o = append(o, member{"propertyNames", object{{"pattern", pattern}}})
		}
		return append(o, member{"additionalProperties", d.value(p.Elem())})
	case plan.FormSlice:
		return object{{"type", list{"array", "null"}}, {"items", d.value(p.Elem())}}
	}
	n := uint64(p.Type().Len())
	return object{{"type", "array"}, {"items", d.value(p.Elem())}, {"minItems", n}, {"maxItems", n}}
}

// members returns the schema of a struct.
func (d *describer) members(p *plan.Plan) object {
	var properties object
	var required list
	fields := p.Fields()
	for i := range fields {
		f := &fields[i]
		value, always := p.Member(f)
		properties = append(properties, member{f.Name, d.member(f, value)})
		if always {
			required = append(required, f.Name)
		}
	}
	o := object{{"type", "object"}}
	if len(properties) > 0 {
		o = append(o, member{"properties", properties})
	}
	if len(required) > 0 {
		o = append(o, member{"required", required})
	}
	return o
}

// member returns the schema of a field: its tags may change the schema of its
// type.
func (d *describer) member(f *plan.Field, value *plan.Plan) any {
	if f.Masked {
		return masked
	}
	to, pointer := target(value)
	if to == nil || f.Unit == "" && !f.Quoted || !isScalar(to) {
		return d.value(value)
	}
	v := scalar(to, f.Unit, f.Quoted)
	if pointer {
		return nullable(v)
	}
	return v
}
