// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"fmt"
	"path"
	"reflect"
	"strings"
	"unicode"
)

// StatsCounter makes a Counter of a struct of counts, such as the Stats of
// sink/stdout, sink/file, sink/journald, of a pool or of a [nib.Logger]: get
// returns it. Each exported field that is an unsigned integer is one count, by
// the name of the field with prefix in front: Lines becomes prefix_lines_total.
// One named Pending or Len may fall and so gets no _total. A field that is a slice
// of structs is a count for each element, whose other fields are labels: a
// Dropped of {Reason, Level, Lines} becomes
//
//	prefix_dropped_total{reason="full",level="info"} 3
//
// Sinks with a method Stats need no StatsCounter: the combinators find it, once,
// and take the name of its package for prefix, as in nib_file_lines_total. get
// must be safe for concurrent use.
func StatsCounter[S any](prefix string, get func() S) Counter {
	return statsCounter{prefix: prefix, get: func() reflect.Value { return reflect.ValueOf(get()) }}
}

// counterOf finds out how to get at the counts of a sink; nil if it shows none.
func counterOf(s any) Counter {
	if c, ok := s.(Counter); ok {
		return c
	}
	// The name is constant so that the linker need keep no other methods.
	stats := reflect.ValueOf(s).MethodByName("Stats")
	if !stats.IsValid() {
		return nil
	}
	t := stats.Type()
	if t.NumIn() != 0 || t.NumOut() != 1 || t.Out(0).Kind() != reflect.Struct {
		return nil
	}
	return statsCounter{
		prefix: "nib_" + snake(path.Base(t.Out(0).PkgPath())),
		get:    func() reflect.Value { return stats.Call(nil)[0] },
	}
}

type statsCounter struct {
	prefix string
	get    func() reflect.Value
}

// Counters implements Counter.
func (c statsCounter) Counters(visit Visit) {
	stats := c.get()
	for stats.Kind() == reflect.Pointer && !stats.IsNil() {
		stats = stats.Elem()
	}
	if stats.Kind() != reflect.Struct {
		return
	}
	t := stats.Type()
	for i := range t.NumField() {
		field, value := t.Field(i), stats.Field(i)
		if !field.IsExported() {
			continue
		}
		name, help := c.name(field.Name), field.Name+" of "+t.String()+"."
		switch {
		case value.CanUint():
			visit(name, help, value.Uint())
		case value.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			for j := range value.Len() {
				visitElement(visit, name, help, value.Index(j))
			}
		}
	}
}

func (c statsCounter) name(field string) string {
	name := c.prefix + "_" + snake(field)
	if field == "Pending" || field == "Len" {
		return name
	}
	return name + "_total"
}

// visitElement shows a struct that has one count and, for labels, what it is the
// count of.
func visitElement(visit Visit, name, help string, element reflect.Value) {
	var labels []string
	var count uint64
	for i := range element.NumField() {
		field, value := element.Type().Field(i), element.Field(i)
		switch {
		case !field.IsExported():
		case value.CanUint():
			count += value.Uint()
		default:
			labels = append(labels, snake(field.Name), fmt.Sprint(value.Interface()))
		}
	}
	visit(name, help, count, labels...)
}

// snake turns MixedCaps into mixed_caps, and what a metric's name must not have
// into an underscore.
func snake(s string) string {
	var b strings.Builder
	upper := true // the letter before
	for i, c := range s {
		switch {
		case c >= unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c):
			b.WriteByte('_')
			upper = true
			continue
		case unicode.IsUpper(c) && !upper && i > 0:
			b.WriteByte('_')
		}
		upper = unicode.IsUpper(c)
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
