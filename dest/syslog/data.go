// SPDX-License-Identifier: Apache-2.0

package syslog

import (
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

// checkData calls fault for every rule that structured data breaks.
func (c *Config) checkData(fault func(wrong bool, format string, values ...any)) {
	if c.StructuredData == "" {
		return
	}
	const param = ` ([^ "\]=]+)="((?:[^"\\\]]|\\.)*)"`
	params := regexp.MustCompile(`(?s)` + param)
	element := regexp.MustCompile(`(?s)^\[([^ "\]=]+)((?:` + param + `)*)\]`)
	const name = "(1 to 32 characters of printable ASCII without =, ], quote and space)"
	seen := map[string]bool{}
	for rest := c.StructuredData; rest != ""; {
		m := element.FindStringSubmatch(rest)
		if m == nil {
			fault(true, "StructuredData: want [ID NAME=\"VALUE\"], got %.40q", rest)
			return
		}
		id := m[1]
		fault(!isSDName(id), "StructuredData: %q is not an ID "+name, id)
		fault(seen[id], "StructuredData: %q occurs twice", id)
		fault(id == c.SequenceID, "StructuredData has an element %q, which is SequenceID", id)
		seen[id] = true
		for _, p := range params.FindAllStringSubmatch(m[2], -1) {
			fault(!isSDName(p[1]), "StructuredData: %q in %s is not a name "+name, p[1], id)
			fault(!utf8.ValidString(p[2]) || strings.ContainsFunc(p[2], isControl),
				"StructuredData: the value %q of %s in %s has control characters or is not UTF-8",
				p[2], p[1], id)
		}
		rest = rest[len(m[0]):]
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
