// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"testing"
)

// An entry has the fields that a server reads, in order.
type entry []struct{ name, value string }

// get returns the only value of a field.
func (e entry) get(t *testing.T, name string) string {
	t.Helper()
	value, n := "", 0
	for _, f := range e {
		if f.name == name {
			value = f.value
			n++
		}
	}
	if n != 1 {
		t.Errorf("%s is there %d times, want once, in %q", name, n, e)
	}
	return value
}

func (e entry) names() (names []string) {
	for _, f := range e {
		names = append(names, f.name)
	}
	return names
}

// goodName matches the names that journald accepts for a program's fields.
var goodName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// readEntry decodes the native protocol as strictly as its specification.
func readEntry(b []byte) (e entry, err error) {
	for len(b) > 0 {
		end := bytes.IndexAny(b, "=\n")
		if end < 0 {
			return nil, fmt.Errorf("no name at %q", b)
		}
		name, value := string(b[:end]), []byte(nil)
		if !goodName.MatchString(name) {
			return nil, fmt.Errorf("journald ignores the field %q", name)
		}
		if b[end] == '=' {
			var ok bool
			if value, b, ok = bytes.Cut(b[end+1:], []byte{'\n'}); !ok {
				return nil, fmt.Errorf("no end of %s", name)
			}
		} else {
			b = b[end+1:]
			if len(b) < 8 {
				return nil, fmt.Errorf("no length of %s", name)
			}
			n := binary.LittleEndian.Uint64(b)
			if b = b[8:]; n >= uint64(len(b)) || b[n] != '\n' {
				return nil, fmt.Errorf("%s is not %d bytes long", name, n)
			}
			value, b = b[:n], b[n+1:]
		}
		e = append(e, struct{ name, value string }{name, string(value)})
	}
	if len(e) == 0 || len(e) > 1024 {
		return nil, fmt.Errorf("journald drops an entry of %d fields", len(e))
	}
	return e, nil
}
