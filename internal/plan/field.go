// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"slices"
)

// A Field is a field of a struct, or of one embedded in it, that is a member of
// the object.
type Field struct {
	Name      string       // the member's name
	Path      string       // the names in Go, from the struct to the field: Embedded.Name
	Index     []int        // Path as indexes, for reflect's FieldByIndex
	Type      reflect.Type // the type of the field
	OmitEmpty bool         // the tag's omitempty
	OmitZero  bool         // the tag's omitzero
	Quoted    bool         // the tag's string: a scalar in quotes
	Masked    bool         // log:"mask"
	Unit      string       // log:"unit=…"
}

// A candidate is a field that becomes a member unless others of the same name
// hide it.
type candidate struct {
	Field
	tagged bool // the name comes from the tag
	hidden bool // log:"-"
	twice  bool // the embedded type that it belongs to occurs twice
}

// An embedded is a struct whose fields are searched.
type embedded struct {
	typ    reflect.Type
	index  []int
	path   string
	log    logTag
	copies int
}

// fieldsOf returns the fields of struct t that become members, in the order in
// which they are declared, by the rules of encoding/json: a field hides deeper
// embedded fields of the same name. Of several on one level, fields with a name
// from a tag come first. If more than one remains, none counts.
//
// A field left out by log:"-" still hides others: a deeper field of the same
// name must not take its place.
func fieldsOf(t reflect.Type) ([]Field, *Error) {
	byName := map[string][]candidate{}
	seen := map[reflect.Type]bool{}
	level := []*embedded{{typ: t, copies: 1}}
	for len(level) > 0 {
		var below []*embedded
		for _, e := range level {
			if seen[e.typ] {
				continue
			}
			seen[e.typ] = true
			for i := range e.typ.NumField() {
				c, inner, err := e.look(i)
				if err != nil {
					return nil, err
				}
				if inner != nil {
					below = addEmbedded(below, inner)
				} else if c != nil {
					byName[c.Name] = append(byName[c.Name], *c)
				}
			}
		}
		level = below
	}
	var fields []Field
	for _, list := range byName {
		if c := dominant(list); c != nil && !c.hidden {
			fields = append(fields, c.Field)
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return slices.Compare(a.Index, b.Index) })
	return fields, nil
}

// addEmbedded adds e to a level, or counts it if the level has its type
// already.
func addEmbedded(level []*embedded, e *embedded) []*embedded {
	for _, other := range level {
		if other.typ == e.typ {
			other.copies++
			other.log.skip, other.log.mask = other.log.skip || e.log.skip, other.log.mask ||
				e.log.mask
			return level
		}
	}
	return append(level, e)
}

// look returns field i of e as a candidate or as a struct to search, or
// neither.
func (e *embedded) look(i int) (*candidate, *embedded, *Error) {
	f := e.typ.Field(i)
	target := f.Type
	if target.Kind() == reflect.Pointer && (f.Anonymous || target.Name() == "") {
		target = target.Elem()
	}
	if !f.IsExported() && (!f.Anonymous || target.Kind() != reflect.Struct) {
		return nil, nil, nil
	}
	tag := parseJSONTag(f.Tag)
	if tag.skip {
		return nil, nil, nil
	}
	path := f.Name
	if e.path != "" {
		path = e.path + "." + f.Name
	}
	log, err := parseLogTag(f.Tag)
	if err != nil {
		return nil, nil, badTag(err, path)
	}
	log.skip, log.mask = log.skip || e.log.skip, log.mask || e.log.mask
	index := append(slices.Clone(e.index), i)
	if f.Anonymous && tag.name == "" && target.Kind() == reflect.Struct {
		if log.unit != "" {
			return nil, nil, badTag(errUnit(log.unit, f.Type), path)
		}
		log.mask = log.mask || secret(target) // e may not have inherited the method
		return nil, &embedded{typ: target, index: index, path: path, log: log, copies: 1}, nil
	}
	c := &candidate{
		Field: Field{
			Name: tag.name, Path: path, Index: index, Type: f.Type,
			OmitEmpty: tag.omitEmpty, OmitZero: tag.omitZero,
			Quoted: tag.quoted && scalar(target.Kind()),
			Masked: log.mask, Unit: log.unit,
		},
		tagged: tag.name != "", hidden: log.skip, twice: e.copies > 1,
	}
	if !c.tagged {
		c.Name = f.Name
	}
	return c, nil, nil
}

// dominant returns the candidate that hides all others of its name, nil if
// there is none. They are ordered by level.
func dominant(list []candidate) *candidate {
	var best *candidate
	alone := false
	for i := range list {
		c := &list[i]
		switch {
		case best == nil || len(c.Index) == len(best.Index) && c.tagged && !best.tagged:
			best, alone = c, !c.twice
		case len(c.Index) == len(best.Index) && c.tagged == best.tagged:
			alone = false
		}
	}
	if !alone {
		return nil
	}
	return best
}

func scalar(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}

func errUnit(unit string, t reflect.Type) error {
	return fmt.Errorf(
		"the tag log:\"unit=%s\" is for a time.Duration or a pointer to one, not for %s", unit, t)
}

func badTag(err error, path string) *Error {
	return &Error{Path: "." + path, Err: err, tag: true}
}
