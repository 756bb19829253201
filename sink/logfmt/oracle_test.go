// SPDX-License-Identifier: Apache-2.0

package logfmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A pair is a key and the text of its value, read by a parser.
type pair struct {
	key, value string
	quoted     bool
}

// parse reads logfmt as strictly as any parser does: fields are separated by
// single spaces, an unquoted value ends at a space and has no quote or equals
// sign, and a quoted one is a JSON string.
func parse(line string) (pairs []pair, err error) {
	for line != "" {
		end := strings.IndexAny(line, " =\"")
		if end <= 0 || line[end] != '=' {
			return nil, fmt.Errorf("no key at %q", line)
		}
		p := pair{key: line[:end]}
		line = line[end+1:]
		if strings.HasPrefix(line, `"`) {
			p.quoted = true
			if end = closingQuote(line); end < 0 {
				return nil, fmt.Errorf("no end of %q", line)
			}
			if err := json.Unmarshal([]byte(line[:end]), &p.value); err != nil {
				return nil, fmt.Errorf("%q: %w", line[:end], err)
			}
		} else {
			if end = strings.IndexByte(line, ' '); end < 0 {
				end = len(line)
			}
			if p.value = line[:end]; p.value == "" || strings.ContainsAny(p.value, "\"=") {
				return nil, fmt.Errorf("a value of %q", p.value)
			}
		}
		if line = line[end:]; line != "" && (line[0] != ' ' || line == " ") {
			return nil, fmt.Errorf("no space at %q", line)
		}
		line = strings.TrimPrefix(line, " ")
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// unescapeKey undoes the escaping of keys.
func unescapeKey(t *testing.T, key string) string {
	t.Helper()
	var b strings.Builder
	for key != "" {
		i := strings.IndexByte(key, '\\')
		if i < 0 {
			return b.String() + key
		}
		b.WriteString(key[:i])
		key = key[i:]
		switch {
		case strings.HasPrefix(key, `\\`):
			b.WriteByte('\\')
			key = key[2:]
		case strings.HasPrefix(key, `\_`):
			key = key[2:]
		case len(key) >= 6 && key[1] == 'u':
			r, err := strconv.ParseUint(key[2:6], 16, 16)
			if err != nil {
				t.Fatalf("key %q: %v", key, err)
			}
			b.WriteRune(rune(r))
			key = key[6:]
		default:
			t.Fatalf("key %q: no such escape", key)
		}
	}
	return b.String()
}

// A reader compares the pairs of a line with the object they were made from.
type reader struct {
	t     *testing.T
	pairs []pair
}

// readBack fails t unless the pairs of logfmt are the fields of object, in
// order. Nested objects may be flattened or not.
func readBack(t *testing.T, logfmt string, object []byte) {
	t.Helper()
	pairs, err := parse(strings.TrimSuffix(logfmt, "\n"))
	if err != nil {
		t.Errorf("%q: %q: %v", object, logfmt, err)
		return
	}
	r := &reader{t, pairs}
	if err := r.object("", object); err != nil {
		t.Errorf("%q: %q: %v", object, logfmt, err)
	} else if len(r.pairs) > 0 {
		t.Errorf("%q: %q: more fields: %v", object, logfmt, r.pairs)
	}
}

func (r *reader) object(path string, raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := r.field(path+key.(string), value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) field(path string, value []byte) error {
	if len(r.pairs) == 0 {
		return fmt.Errorf("no field %q", path)
	}
	p := r.pairs[0]
	key := unescapeKey(r.t, p.key)
	if value[0] == '{' && (key != path || !p.quoted || !json.Valid([]byte(p.value))) {
		return r.object(path+".", value)
	}
	r.pairs = r.pairs[1:]
	if key != path {
		return fmt.Errorf("key %q, want %q", key, path)
	}
	switch value[0] {
	case '{', '[':
		var got, want any
		if err := errors.Join(decode([]byte(p.value), &got), decode(value, &want)); err != nil || !p.quoted {
			return fmt.Errorf("%s: %q is not quoted JSON (%v)", key, p.value, err)
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s: %v, want %v", key, got, want)
		}
	case '"':
		var want string
		if err := json.Unmarshal(value, &want); err != nil {
			return err
		}
		scalar := json.Valid([]byte(want)) && !strings.ContainsAny(want[:1], `"[{`)
		if p.value != want || !p.quoted && (scalar || want == "") {
			return fmt.Errorf("%s: %+v, want %q", key, p, want)
		}
	default:
		if p.value != string(value) || p.quoted {
			return fmt.Errorf("%s: %+v, want %s bare", key, p, value)
		}
	}
	return nil
}

func decode(raw []byte, to *any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(to)
}

// checkSafe fails t unless shown is one line of visible characters.
func checkSafe(t *testing.T, line []byte, shown string) {
	t.Helper()
	if strings.Count(shown, "\n") != 1 || !strings.HasSuffix(shown, "\n") {
		t.Errorf("%q: %q is not one line", line, shown)
	}
	if !utf8.ValidString(shown) {
		t.Errorf("%q: %q is not UTF-8", line, shown)
	}
	for _, r := range strings.TrimSuffix(shown, "\n") {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 || r == 0xfeff {
			t.Errorf("%q: %q has a raw %U", line, shown, r)
		}
	}
}
