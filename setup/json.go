// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/nib-log/nib/internal/settings"
)

// UnmarshalJSON sets the fields that are in data. Its error joins an error for
// each mistake, including unknown names. Outputs are checked by [Open] and
// Validate, which have Kinds.
func (c *Config) UnmarshalJSON(data []byte) error {
	if string(data) == "null" { // null changes nothing, as for any other field
		return nil
	}
	r := reading{uncheckedOutputs: true}
	*c = merge(*c, r.decode(data, ""))
	return r.err()
}

// MarshalJSON omits zero fields, and the fields that only a program can
// set.
func (c Config) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	list := settings.Of(&c)
	for i := range list {
		switch s := &list[i]; {
		case !s.IsSet():
		case s.IsList():
			all[s.Name] = s.Texts()
		default:
			all[s.Name] = s.Texts()[0]
		}
	}
	return json.Marshal(all)
}

// decode reads the object of a Config. encoding/json would end at the first
// fault, ignore unknown names, and use the second of two equal names.
func (r *reading) decode(data []byte, where string) (c Config) {
	list := settings.Of(&c)
	r.members(data, where, func(name string, raw json.RawMessage, at string) {
		switch s := settings.Find(list, name); {
		case s == nil:
			r.wrap(at, settings.Unknown(name, list))
		case s.IsList():
			c.Output = r.decodeOutputs(raw, at)
		case s.IsMap() && raw[0] == '{':
			c.Fields = map[string]string{}
			r.members(raw, at+".", func(name string, raw json.RawMessage, at string) {
				for _, text := range r.texts(raw, at, false) {
					c.Fields[name] = text
				}
			})
		default:
			for _, text := range r.texts(raw, at, false) {
				r.wrap(at, s.Set(text))
			}
		}
	})
	return c
}

// decodeOutputs reads an output or a list of outputs, each an object or a text.
func (r *reading) decodeOutputs(raw json.RawMessage, where string) []string {
	var items []json.RawMessage
	switch raw[0] {
	case '[':
		r.wrap(where, json.Unmarshal(raw, &items))
	case '{':
		items = append(items, raw)
	default:
		for _, text := range r.texts(raw, where, false) {
			return r.splitOutputs(text, where)
		}
	}
	var list, places []string
	for i, item := range items {
		at := where
		if raw[0] == '[' {
			at = place(where, i)
		}
		for _, text := range r.outputTexts(item, at) {
			list, places = append(list, text), append(places, at)
		}
	}
	return r.checkOutputs(list, func(i int) string { return places[i] })
}

// outputTexts returns the text of one output, also of an object:
// {"to": "file", "path": "x"}.
func (r *reading) outputTexts(raw json.RawMessage, where string) []string {
	if raw[0] != '{' {
		return r.texts(raw, where, false)
	}
	hasTo, to, params := false, "", ""
	r.members(raw, where+".", func(name string, raw json.RawMessage, at string) {
		hasTo = hasTo || name == "to"
		for _, text := range r.texts(raw, at, name != "to") {
			if name == "to" {
				to = text
			} else {
				params += "&" + settings.Escape(name) + "=" + settings.Escape(text)
			}
		}
	})
	switch {
	case !hasTo:
		r.add(where+".to", "is missing (want a kind of output: stdout, file, …)")
		return nil
	case params != "" && !strings.Contains(to, "?"):
		params = "?" + params[1:]
	}
	return []string{to + params}
}

// texts returns a value, or each element of a list, as the text that a variable
// would have.
func (r *reading) texts(raw json.RawMessage, where string, orList bool) (list []string) {
	var items []json.RawMessage
	switch {
	case orList && json.Unmarshal(raw, &items) == nil:
		for i, item := range items {
			list = append(list, r.texts(item, place(where, i), false)...)
		}
	case raw[0] == '{' || raw[0] == '[':
		r.add(where, "want a text, a number, true or false, not an object or a list")
	case raw[0] == '"':
		var text string
		r.wrap(where, json.Unmarshal(raw, &text))
		list = append(list, text)
	default:
		list = append(list, string(raw))
	}
	return list
}

// members calls f for each member of the object raw that is not null.
func (r *reading) members(
	raw json.RawMessage, where string, f func(name string, raw json.RawMessage, at string),
) {
	seen := map[string]bool{}
	err := eachMember(raw, func(name string, raw json.RawMessage) {
		switch {
		case name == "" || seen[name]:
			r.add(where+name, "is set twice, or has no name")
		case string(raw) != "null":
			f(name, raw, where+name)
		}
		seen[name] = true
	})
	if where = strings.TrimRight(where, ".: "); where == "" {
		where = "JSON"
	}
	r.wrap(where, err)
}

// eachMember calls f for each member of an object, in order.
func eachMember(raw []byte, f func(name string, raw json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := d.Token(); err != nil {
		return syntax(err)
	} else if begin != json.Delim('{') {
		return errors.New("is not an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return syntax(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return syntax(err)
		}
		f(name.(string), value)
	}
	if _, err := d.Token(); err != nil {
		return syntax(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more data after the object")
	}
	return nil
}

// syntax makes an error that names the position of invalid JSON.
func syntax(err error) error {
	var at *json.SyntaxError
	if errors.As(err, &at) {
		return errors.New(
			"is not JSON at byte " + strconv.FormatInt(at.Offset, 10) + ": " + err.Error())
	}
	return errors.New("is not JSON: " + err.Error())
}
