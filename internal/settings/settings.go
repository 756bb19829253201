// SPDX-License-Identifier: Apache-2.0

// Package settings decodes text into the fields of structs by their tags. It is
// the only decoder of variables, of JSON and of the parameters of targets, and
// the tables of the documentation come from the same tags.
//
//	type params struct {
//		MaxSize int64         `set:"max_size" is:"size" default:"8096B" doc:"size of a message"`
//		Timeout time.Duration `set:"timeout" default:"3s" doc:"time for an answer"`
//		Mode    string        `set:"mode" is:"fast|safe" doc:"how to send"`
//	}
//
// A field without the tag "set" is not a setting; the fields of an embedded
// struct are included. The tag "is" names a unit where the type does not, or
// lists words.
package settings

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Setting is one field of a struct.
type Setting struct {
	Name    string // name in variables, JSON and targets
	Field   string // name in Go
	Default string // default as text, or in words
	Doc     string

	value reflect.Value
	unit  unit
	given bool // Set was called
}

// Of returns the settings of structs, given as pointers.
func Of(structs ...any) (list []Setting) {
	for _, s := range structs {
		list = appendFields(list, reflect.ValueOf(s).Elem())
	}
	return list
}

func appendFields(list []Setting, v reflect.Value) []Setting {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if name := f.Tag.Get("set"); name != "" {
			list = append(list, Setting{
				Name: name, Field: f.Name, Default: f.Tag.Get("default"), Doc: f.Tag.Get("doc"),
				value: v.Field(i), unit: unitOf(f),
			})
		} else if f.Anonymous && f.Type.Kind() == reflect.Struct {
			list = appendFields(list, v.Field(i))
		}
	}
	return list
}

// IsList reports whether the setting may be given several times.
func (s *Setting) IsList() bool { return s.value.Kind() == reflect.Slice }

// IsMap reports whether the setting has keys and values.
func (s *Setting) IsMap() bool { return s.value.Kind() == reflect.Map }

// IsSet reports whether the field is not zero. An empty list is zero.
func (s *Setting) IsSet() bool {
	if s.IsList() || s.IsMap() {
		return s.value.Len() > 0
	}
	return !s.value.IsZero()
}

// Set decodes text into the field, or appends it to a list.
func (s *Setting) Set(text string) error {
	if s.given && !s.IsList() {
		return ErrTwice
	}
	s.given = true
	err := s.unit.set(s.element(), text)
	if err == nil {
		return nil
	}
	if err == errWant {
		return fmt.Errorf("%q is not a %s (want %s)", Shorten(text), s.unit.name, s.unit.want)
	}
	return err
}

// element returns the value to which the next text belongs.
func (s *Setting) element() reflect.Value {
	if !s.IsList() {
		return s.value
	}
	s.value.Set(reflect.Append(s.value, reflect.Zero(s.value.Type().Elem())))
	return s.value.Index(s.value.Len() - 1)
}

// Texts returns texts that Set decodes to the same value: one for each element
// of a list.
func (s *Setting) Texts() (list []string) {
	if s.IsList() {
		for i := range s.value.Len() {
			list = append(list, s.unit.text(s.value.Index(i)))
		}
		return list
	}
	return []string{s.unit.text(s.value)}
}

// Check decodes the texts of a field that a program has set, and returns an
// error for each invalid one.
func (s *Setting) Check() (errs []error) {
	again := *s
	again.value, again.given = reflect.New(s.value.Type()).Elem(), false
	for _, text := range s.Texts() {
		if err := again.Set(text); err != nil {
			errs = append(errs, err)
		}
	}
	s.value.Set(again.value) // converts words to lower case
	return errs
}

// SetDefaults sets each number, duration and mode that is zero to its default.
// A default in words, such as "the machine's", sets nothing.
func SetDefaults(s any) {
	for _, s := range Of(s) {
		switch s.value.Kind() {
		case reflect.Int, reflect.Int64, reflect.Uint32:
			if s.value.IsZero() && s.unit.set(s.value, s.Default) != nil {
				s.value.SetZero()
			}
		}
	}
}

// Merge replaces the fields of base that are set in over, which has the same
// type. Maps are joined.
func Merge(base, over any) {
	to := Of(base)
	for i, s := range Of(over) {
		if !s.IsSet() {
			continue
		}
		value := s.value
		if s.IsMap() {
			all := maps.Clone(to[i].value.Interface().(map[string]string))
			if all == nil {
				all = map[string]string{}
			}
			maps.Copy(all, s.value.Interface().(map[string]string))
			value = reflect.ValueOf(all)
		}
		to[i].value.Set(value)
	}
}

// Find returns the setting with a name, or nil.
func Find(list []Setting, name string) *Setting {
	i := slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Names returns the names of settings.
func Names(list []Setting) (names []string) {
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

// Unknown returns the error for a name that no setting has.
func Unknown(name string, list []Setting) error {
	names := Names(list)
	return fmt.Errorf("there is no such setting%s (want %s)", Suggest(name, names),
		strings.Join(names, ", "))
}

// Help returns the setting as a line of the help of a command.
func (s *Setting) Help() string {
	text := "?" + s.Name + "=  " + s.Doc
	if len(s.unit.words) > 0 {
		text += ": " + Either(s.unit.words)
	}
	return text + " (default " + s.Default + ")"
}

// Table returns the settings as rows of Markdown.
func Table(list []Setting) string {
	var b strings.Builder
	for _, s := range list {
		words := s.Doc
		if len(s.unit.words) > 0 {
			words = "`" + strings.Join(s.unit.words, "`, `") + "`: " + words
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, words, s.Default)
	}
	return b.String()
}
