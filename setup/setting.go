// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A setting is one field of a Config or an Output. The tags of the fields are
// the only table of settings: variables, JSON, checks and merging go by it.
type setting struct {
	name  string // in JSON and in options; upper case in variables
	field string // in Go
	index int
	kind  kind
	only  []string // the kinds of output that have it; none: all
}

// The settings are found out when they are needed first: programs that only
// import the package do not pay for them.
var (
	configSettings = sync.OnceValue(func() []setting { return settingsOf(reflect.TypeFor[Config]()) })
	outputSettings = sync.OnceValue(func() []setting { return settingsOf(reflect.TypeFor[Output]()) })
)

func settingsOf(t reflect.Type) (list []setting) {
	kinds := kinds()
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("json"); f.IsExported() && name != "-" {
			list = append(list, setting{name, f.Name, i, kinds[f.Tag.Get("kind")], strings.Fields(f.Tag.Get("only"))})
		}
	}
	return list
}

func (s *setting) isList() bool    { return s.kind.text == nil }
func (s *setting) isOutputs() bool { return s.kind.set == nil }

// in returns the field of the struct that v points to.
func (s *setting) in(v any) reflect.Value { return reflect.ValueOf(v).Elem().Field(s.index) }

// isUnset reports whether a field was left out. An empty list says nothing.
func isUnset(field reflect.Value) bool {
	if k := field.Kind(); k == reflect.Slice || k == reflect.Map {
		return field.Len() == 0
	}
	return field.IsZero()
}

// texts writes a field that is set; a list is more than one.
func (s *setting) texts(field reflect.Value) []string {
	if s.isList() {
		return field.Interface().([]string)
	}
	return []string{s.kind.text(field)}
}

// find looks a name up.
func find(settings []setting, name string) *setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// names lists the settings that an output of a kind has, or all.
func names(settings []setting, to string) string {
	var list []string
	for _, s := range settings {
		if to == "" || len(s.only) == 0 || slices.Contains(s.only, to) {
			list = append(list, s.name)
		}
	}
	return strings.Join(list, ", ")
}

// set reads text into the field of v, or finds a fault.
func (s *setting) set(v any, text string, found *faults, where string) {
	if !s.kind.set(s.in(v), text) {
		s.reject(text, found, where)
	}
}

func (s *setting) reject(text string, found *faults, where string) {
	if s.kind.why != nil {
		if err := s.kind.why(text); err != nil {
			found.wrap(where, err)
			return
		}
	}
	found.add(where, "%q is not a %s (want %s)", shorten(text), s.kind.name, s.kind.want)
}

// shorten keeps faults readable whatever was given.
func shorten(text string) string {
	if len(text) > 100 {
		return text[:100] + "…"
	}
	return text
}

// checkFields finds the faults of fields that a program has set: each is written
// as text and read again.
func checkFields(v any, settings []setting, found *faults, where func(*setting) string) {
	for i := range settings {
		s := &settings[i]
		field := s.in(v)
		if s.isOutputs() || isUnset(field) {
			continue
		}
		again := reflect.New(field.Type()).Elem()
		for _, text := range s.texts(field) {
			if !s.kind.set(again, text) {
				s.reject(text, found, where(s))
			}
		}
		field.Set(again) // words are in lower case now
	}
}

// merge puts the fields that over has set in place of those of base. Fields of
// lines are put together.
func merge(base, over Config) Config {
	settings := configSettings()
	for i := range settings {
		s := &settings[i]
		if field := s.in(&over); !isUnset(field) {
			if field.Kind() == reflect.Map {
				field = union(s.in(&base), field)
			}
			s.in(&base).Set(field)
		}
	}
	if over.Rules != nil {
		base.Rules = over.Rules
	}
	base.Sinks = append(base.Sinks[:len(base.Sinks):len(base.Sinks)], over.Sinks...)
	base.Options = append(base.Options[:len(base.Options):len(base.Options)], over.Options...)
	return base
}

func union(a, b reflect.Value) reflect.Value {
	all := reflect.MakeMap(b.Type())
	for _, m := range []reflect.Value{a, b} {
		for _, key := range m.MapKeys() {
			all.SetMapIndex(key, m.MapIndex(key))
		}
	}
	return all
}
