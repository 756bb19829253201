// SPDX-License-Identifier: Apache-2.0

package jsonschema

import (
	"strconv"

	"github.com/nib-log/nib/internal/plan"
)

// A shape is a named type that has parts. One type can have two shapes: methods
// with a pointer receiver count only where a value has an address.
type shape struct {
	plan   *plan.Plan
	seen   bool
	open   bool   // the parts of the shape are being visited
	shared bool   // the shape is under $defs
	name   string // name under $defs
}

func hasParts(p *plan.Plan) bool {
	switch p.Form() {
	case plan.FormStruct, plan.FormMap, plan.FormSlice, plan.FormArray:
		return true
	}
	return false
}

// target follows pointers. It returns nil if there are more of them than can be
// encoded, as in a type that is a pointer to itself.
func target(p *plan.Plan) (to *plan.Plan, pointer bool) {
	for range plan.MaxDepth + 2 {
		if p.Form() != plan.FormPointer {
			return p, pointer
		}
		p, pointer = p.Elem(), true
	}
	return nil, true
}

// visit finds the shapes that p refers to, and which of them are shared. A
// struct is visited once, however often it occurs.
func (d *describer) visit(p *plan.Plan) {
	if p, _ = target(p); p == nil || !hasParts(p) {
		return
	}
	if s := d.shape(p); s != nil {
		if s.open || s.seen && p.Form() == plan.FormStruct {
			if !s.shared {
				s.shared = true
				d.shared = append(d.shared, s)
			}
			return
		}
		s.seen, s.open = true, true
		defer func() { s.open = false }()
	}
	if p.Form() != plan.FormStruct {
		d.visit(p.Elem())
		return
	}
	fields := p.Fields()
	for i := range fields {
		if !fields[i].Masked {
			value, _ := p.Member(&fields[i])
			d.visit(value)
		}
	}
}

// shape returns the shape of p's type, which has parts; nil if it has no name.
func (d *describer) shape(p *plan.Plan) *shape {
	t := p.Type()
	if t.Name() == "" || !hasParts(p) {
		return nil
	}
	for _, s := range d.shapes[t] {
		if d.alike(s.plan, p) {
			return s
		}
	}
	s := &shape{plan: p}
	d.shapes[t] = append(d.shapes[t], s)
	return s
}

// alike reports whether two plans of one type have the same schema. A pair that
// is being compared is alike until a difference is found.
func (d *describer) alike(a, b *plan.Plan) bool {
	pair := [2]*plan.Plan{a, b}
	if a == b || d.same[pair] {
		return true
	}
	d.same[pair] = true
	same := a.Form() == b.Form()
	if same && a.Form() == plan.FormStruct {
		fields := a.Fields()
		for i := range fields {
			of, _ := a.Member(&fields[i])
			other, _ := b.Member(&fields[i])
			same = same && (fields[i].Masked || d.alike(of, other))
		}
	} else if same && a.Elem() != nil {
		same = d.alike(a.Elem(), b.Elem())
	}
	if !same {
		clear(d.same) // other pairs may have been alike only because this one was
	}
	return same
}

// name gives names to the shared shapes.
func (d *describer) name() {
	taken := map[string]bool{}
	for _, s := range d.shared {
		base := identifier(shortName(s.plan.Type().Name()))
		s.name = base
		for n := 2; taken[s.name]; n++ {
			s.name = base + "_" + strconv.Itoa(n)
		}
		taken[s.name] = true
	}
}

// shortName returns the name of a type without reflect's additions to the
// arguments of a generic type: the path of a package in front, and a dot and a
// number after the name of a type that is local to a function.
func shortName(name string) string {
	var out []rune
	word, local := 0, false // start of the word in out; whether its end is left out
	for _, r := range name {
		switch r {
		case '.', '/':
			out = out[:word]
		case '·':
			local = true
		case '[', ']', ',', '*', ' ', '(', ')', '{', '}', ';':
			out = append(out, r)
			word, local = len(out), false
		default:
			if !local {
				out = append(out, r)
			}
		}
	}
	return string(out)
}

// identifier converts the name of a type to a name for $defs: letters, digits
// and single underscores, which need no escaping in a $ref.
func identifier(name string) string {
	var out []byte
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
			out = append(out, c)
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
	}
	if n := len(out); n > 0 && out[n-1] == '_' {
		out = out[:n-1]
	}
	if len(out) == 0 {
		return "T" // the name has no ASCII letters
	}
	return string(out)
}
