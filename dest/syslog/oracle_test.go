// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A message is the result of a strict parser for RFC 5424.
type message struct {
	facility, severity int
	time               time.Time // zero for -
	fields             [4]string // HOSTNAME APP-NAME PROCID MSGID
	data               []element
	text               string
}

var (
	headPattern = regexp.MustCompile(`^<(0|[1-9][0-9]{0,2})>1 (\S+) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) `)
	timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$`)
	namePattern = regexp.MustCompile(`^[!#-<>-\\^-~]{1,32}`)
)

// parseMessage parses a message, strictly according to RFC 5424, section 6.
func parseMessage(s string) (m message, err error) {
	h := headPattern.FindStringSubmatch(s)
	if h == nil {
		return m, fmt.Errorf("no header: %.100q", s)
	}
	priority, _ := strconv.Atoi(h[1])
	if priority > 191 {
		return m, fmt.Errorf("priority %d", priority)
	}
	m.facility, m.severity = priority/8, priority%8
	if h[2] != "-" {
		if !timePattern.MatchString(h[2]) {
			return m, fmt.Errorf("time %q", h[2])
		}
		if m.time, err = time.Parse(time.RFC3339Nano, h[2]); err != nil {
			return m, err
		}
	}
	copy(m.fields[:], h[3:])
	s = s[len(h[0]):]
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s = rest
	} else if m.data, s, err = parseData5424(s); err != nil {
		return m, err
	}
	if s == "" {
		return m, nil
	}
	if s[0] != ' ' {
		return m, fmt.Errorf("%.20q behind the structured data", s)
	}
	m.text = s[1:]
	return m, nil
}

// An element is an element of structured data.
type element struct {
	id     string
	params []param5424
}

type param5424 struct{ name, value string }

var escaper = strings.NewReplacer(`"`, `\"`, `\`, `\\`, `]`, `\]`)

// String returns the element as in a message.
func (e element) String() string {
	s := "[" + e.id
	for _, p := range e.params {
		s += " " + p.name + `="` + escaper.Replace(p.value) + `"`
	}
	return s + "]"
}

func parseData5424(s string) (data []element, rest string, err error) {
	for strings.HasPrefix(s, "[") {
		s = s[1:]
		e := element{id: namePattern.FindString(s)}
		if s = s[len(e.id):]; e.id == "" {
			return nil, s, fmt.Errorf("no SD-ID: %.20q", s)
		}
		for strings.HasPrefix(s, " ") {
			s = s[1:]
			p := param5424{name: namePattern.FindString(s)}
			s = s[len(p.name):]
			if p.name == "" || !strings.HasPrefix(s, `="`) {
				return nil, s, fmt.Errorf("no parameter: %.20q", s)
			}
			if p.value, s, err = parseValue(s[2:]); err != nil {
				return nil, s, err
			}
			e.params = append(e.params, p)
		}
		if !strings.HasPrefix(s, "]") {
			return nil, s, fmt.Errorf("no ]: %.20q", s)
		}
		s = s[1:]
		data = append(data, e)
	}
	if data == nil {
		return nil, s, fmt.Errorf("no structured data: %.20q", s)
	}
	return data, s, nil
}

func parseValue(s string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if !utf8.ValidString(b.String()) {
				return "", "", fmt.Errorf("value %q is not UTF-8", b.String())
			}
			return b.String(), s[i+1:], nil
		case c == ']':
			return "", "", fmt.Errorf("] is not escaped: %.20q", s)
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`"\]`, s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("no end of value: %.20q", s)
}
