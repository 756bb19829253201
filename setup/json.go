// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// UnmarshalJSON sets what data has. Its error joins a [Fault] for each thing
// that is wrong, unknown names among them.
func (c *Config) UnmarshalJSON(data []byte) error {
	var found faults
	*c = merge(*c, decode(data, &found, ""))
	return found.err()
}

// MarshalJSON leaves out what is not set. Sinks and Options are not part of it.
func (c Config) MarshalJSON() ([]byte, error) { return encode(&c, configSettings()) }

// MarshalJSON leaves out what is not set.
func (o Output) MarshalJSON() ([]byte, error) { return encode(&o, outputSettings()) }

// UnmarshalJSON reads an object, or a text as in a variable. Its error joins a
// [Fault] for each thing that is wrong.
func (o *Output) UnmarshalJSON(data []byte) error {
	var found faults
	var list []Output
	if data = bytes.TrimSpace(data); len(data) > 0 {
		list = decodeOutputs(data, &found, "output")
	}
	if len(list) != 1 && found.list == nil {
		found.add("output", "want one, got %d", len(list))
	}
	if len(list) > 0 {
		*o = list[0]
	}
	return found.err()
}

// decode reads the object of a Config. encoding/json would end at the first
// fault, ignore unknown names, and let the second of two names win.
func decode(data []byte, found *faults, where string) (c Config) {
	eachMember(data, configSettings(), found, where, func(s *setting, raw json.RawMessage, at string) {
		switch {
		case s.isOutputs():
			c.Output = decodeOutputs(raw, found, at)
		case s.in(&c).Kind() == reflect.Map:
			c.Fields = decodeFields(raw, found, at)
		default:
			decodeValue(s, &c, raw, found, at)
		}
	})
	return c
}

// decodeOutputs reads an output or a list of outputs, each an object or a text.
func decodeOutputs(raw json.RawMessage, found *faults, where string) (list []Output) {
	switch raw[0] {
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			found.wrap(where, err)
		}
		for i, item := range items {
			if item[0] == '{' {
				list = append(list, decodeOutput(item, found, place(where, i)))
			} else if text, ok := scalar(item, found, place(where, i)); ok {
				list = append(list, readOutput(text, found, place(where, i)))
			}
		}
	case '{':
		list = append(list, decodeOutput(raw, found, where))
	default:
		if text, ok := scalar(raw, found, where); ok {
			list = readOutputs(text, found, where)
		}
	}
	return list
}

func decodeOutput(raw json.RawMessage, found *faults, where string) (o Output) {
	before := len(found.list)
	eachMember(raw, outputSettings(), found, where+".", func(s *setting, raw json.RawMessage, at string) {
		decodeValue(s, &o, raw, found, at)
	})
	checkOutput(&o, found, before, where, func(s *setting) string { return where + "." + s.name })
	return o
}

// decodeValue reads a value, or a list of them where a field is one.
func decodeValue(s *setting, v any, raw json.RawMessage, found *faults, where string) {
	var items []json.RawMessage
	if s.isList() && json.Unmarshal(raw, &items) == nil {
		for i, item := range items {
			if text, ok := scalar(item, found, place(where, i)); ok {
				s.set(v, text, found, place(where, i))
			}
		}
	} else if text, ok := scalar(raw, found, where); ok {
		s.set(v, text, found, where)
	}
}

func decodeFields(raw json.RawMessage, found *faults, where string) map[string]string {
	if raw[0] != '{' {
		var c Config
		decodeValue(find(configSettings(), "fields"), &c, raw, found, where)
		return c.Fields
	}
	fields := map[string]string{}
	err := members(raw, func(name string, raw json.RawMessage) {
		at := where + "." + name
		if _, twice := fields[name]; twice || name == "" {
			found.add(at, "is there twice, or has no name")
		} else if text, ok := scalar(raw, found, at); ok {
			fields[name] = text
		}
	})
	found.wrap(where, err)
	return fields
}

// scalar gives a value as the text that a variable would have.
func scalar(raw json.RawMessage, found *faults, where string) (text string, ok bool) {
	switch raw[0] {
	case '{', '[':
		found.add(where, "want a text, a number, true or false, got %s", shorten(string(raw)))
		return "", false
	case '"':
		err := json.Unmarshal(raw, &text)
		found.wrap(where, err)
		return text, err == nil
	}
	return string(raw), true
}

// eachMember calls f for each member of the object raw that is a setting and is
// not null.
func eachMember(raw json.RawMessage, settings []setting, found *faults, where string, f func(s *setting, raw json.RawMessage, at string)) {
	seen := map[string]bool{}
	err := members(raw, func(name string, raw json.RawMessage) {
		s, at := find(settings, name), where+name
		switch {
		case s == nil:
			found.add(at, "there is no such setting%s (want %s)", suggest(name, settings), names(settings, ""))
		case seen[name]:
			found.add(at, "is there twice")
		case string(raw) != "null":
			f(s, raw, at)
		}
		seen[name] = true
	})
	if where = strings.TrimRight(where, ".: "); where == "" {
		where = "JSON"
	}
	found.wrap(where, err)
}

// members calls f for each member of an object, in order.
func members(raw []byte, f func(name string, raw json.RawMessage)) error {
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
		return errors.New("there is more behind the object")
	}
	return nil
}

// syntax says that it is the JSON that is wrong.
func syntax(err error) error {
	var at *json.SyntaxError
	if errors.As(err, &at) {
		return errors.New("is not JSON at byte " + strconv.FormatInt(at.Offset, 10) + ": " + err.Error())
	}
	return errors.New("is not JSON: " + err.Error())
}

// encode writes the fields of v that are set.
func encode(v any, settings []setting) ([]byte, error) {
	b := []byte{'{'}
	for i := range settings {
		s := &settings[i]
		field := s.in(v)
		if isUnset(field) {
			continue
		}
		var value any
		switch x := field.Interface().(type) {
		case Switch:
			value = x == SwitchOn
		case string, int, []string, []Output, map[string]string:
			value = x
		default:
			value = s.kind.text(field)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, s.name), ':')
		b = append(b, text...)
	}
	return append(b, '}'), nil
}
