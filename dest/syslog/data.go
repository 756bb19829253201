// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The limits of RFC 5424, section 6, in bytes.
const (
	maxHostname = 255
	maxAppName  = 48
	maxMsgID    = 32
	maxSDName   = 32
)

// A DataElement is an element of structured data (RFC 5424, section 6.3): [ID
// name="value" …].
type DataElement struct {
	// ID is a name registered by IANA, such as "origin", or any name, an @ and
	// the private enterprise number of its owner.
	ID     string
	Params []Param
}

// A Param is a parameter of a DataElement. The Value may be any text without
// control characters; a Name may occur more than once.
type Param struct{ Name, Value string }

// validateElements calls fault for every rule that elements may break.
func validateElements(
	elements []DataElement, fault func(wrong bool, format string, values ...any),
) {
	const name = "(1 to 32 characters of printable ASCII without =, ], quote and space)"
	seen := map[string]bool{}
	for _, e := range elements {
		fault(!isSDName(e.ID), "StructuredData: %q is not an ID "+name, e.ID)
		fault(seen[e.ID], "StructuredData: %q occurs twice", e.ID)
		seen[e.ID] = true
		for _, p := range e.Params {
			fault(!isSDName(p.Name), "StructuredData: %q in %s is not a name "+name, p.Name, e.ID)
			fault(!utf8.ValidString(p.Value) || strings.ContainsFunc(p.Value, isControl),
				"StructuredData: the value %q of %s in %s has control characters or is not UTF-8",
				p.Value, p.Name, e.ID)
		}
	}
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }

// isSDName reports whether s is an SD-NAME.
func isSDName(s string) bool {
	return isField(s, maxSDName) && !strings.ContainsAny(s, `="]`)
}

// isField reports whether s may be a field of the header: at least one and at
// most limit characters of printable ASCII, no space.
func isField(s string, limit int) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

// A PARAM-VALUE has three escapes.
var (
	escaper   = strings.NewReplacer(`"`, `\"`, `\`, `\\`, `]`, `\]`)
	unescaper = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\]`, `]`)
)

// parseElements parses structured data in the form of messages. It does not
// check names and values; see validateElements.
func parseElements(text string) (list []DataElement, err error) {
	if text == "" {
		return nil, nil
	}
	const param = ` ([^ "\]=]+)="((?:[^"\\\]]|\\.)*)"`
	params := regexp.MustCompile(`(?s)` + param)
	element := regexp.MustCompile(`(?s)^\[([^ "\]=]+)((?:` + param + `)*)\]`)
	for rest := text; rest != ""; {
		m := element.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("want [ID NAME=\"VALUE\"], got %.40q", rest)
		}
		e := DataElement{ID: m[1]}
		for _, p := range params.FindAllStringSubmatch(m[2], -1) {
			e.Params = append(e.Params, Param{p[1], unescaper.Replace(p[2])})
		}
		list, rest = append(list, e), rest[len(m[0]):]
	}
	return list, nil
}

// appendElements appends structured data. Elements without parameters are
// allowed.
func appendElements(dst []byte, elements []DataElement) []byte {
	for _, e := range elements {
		dst = append(append(dst, '['), e.ID...)
		for _, p := range e.Params {
			dst = append(append(append(dst, ' '), p.Name...), `="`...)
			dst = append(append(dst, escaper.Replace(p.Value)...), '"')
		}
		dst = append(dst, ']')
	}
	return dst
}

// appendField appends s as a field of the header: characters other than
// printable ASCII become _, a long s is truncated, and an empty s becomes -,
// the nil value.
func appendField(dst []byte, s string, limit int) []byte {
	if s == "" {
		return append(dst, '-')
	}
	for i := range min(len(s), limit) {
		c := s[i]
		if c <= ' ' || c >= 0x7f {
			c = '_'
		}
		dst = append(dst, c)
	}
	return dst
}
