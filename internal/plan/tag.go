// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// A jsonTag is a parsed json tag.
type jsonTag struct {
	name                        string // empty if the tag has no name, or an invalid one
	skip                        bool
	omitEmpty, omitZero, quoted bool
}

func parseJSONTag(tag reflect.StructTag) jsonTag {
	text := tag.Get("json")
	if text == "-" {
		return jsonTag{skip: true}
	}
	name, options, _ := strings.Cut(text, ",")
	var t jsonTag
	if allowedName(name) {
		t.name = name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			t.omitEmpty = true
		case "omitzero":
			t.omitZero = true
		case "string":
			t.quoted = true
		}
	}
	return t
}

// allowedName reports whether encoding/json accepts a name in a tag: it may
// contain letters, digits, and ASCII punctuation except quotes, backslash and
// comma.
func allowedName(name string) bool {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) {
			return false
		}
	}
	return name != ""
}

// A logTag is a parsed log tag.
type logTag struct {
	skip, mask bool
	unit       string // "", or a key of units
}

// units are the codes that write a time.Duration in a unit.
var units = map[string]code{"s": codeSeconds, "ms": codeMillis, "us": codeMicros, "ns": codeInt64}

func parseLogTag(tag reflect.StructTag) (t logTag, err error) {
	text := tag.Get("log")
	if text == "" {
		return t, nil
	}
	for option := range strings.SplitSeq(text, ",") {
		unit, isUnit := strings.CutPrefix(option, "unit=")
		switch {
		case option == "-":
			t.skip = true
		case option == "mask":
			t.mask = true
		case isUnit && units[unit] != codeNone:
			t.unit = unit
		default:
			return t, fmt.Errorf(
				"the tag log:%q has an unknown option %q; there are -, mask, unit=s, unit=ms, "+
					"unit=us, unit=ns", text, option)
		}
	}
	return t, nil
}
