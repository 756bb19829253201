// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/nib-log/nib/internal/seed"
)

// oracle returns v encoded by encoding/json.
func oracle(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// differ compares the encoding of v, which is settable, with the oracle: at an
// address and in an interface.
func differ(v reflect.Value, same func(got, want []byte) bool) (why string) {
	gotBytes, gotErr := Of(v.Type()).Append(
		[]byte("front"), v.Addr().UnsafePointer(), at(1000))
	wantBytes, wantErr := oracle(v.Addr().Interface())
	if why := differs(gotBytes, gotErr, wantBytes, wantErr, same); why != "" {
		return "at an address: " + why
	}
	gotBytes, gotErr = AppendAny([]byte("front"), v.Interface(), at(1000))
	wantBytes, wantErr = oracle(v.Interface())
	if why := differs(gotBytes, gotErr, wantBytes, wantErr, same); why != "" {
		return "in an interface: " + why
	}
	return ""
}

func differs(got []byte, gotErr error, want []byte, wantErr error, same func(got, want []byte) bool) string {
	got, ok := bytes.CutPrefix(got, []byte("front"))
	switch {
	case !ok:
		return fmt.Sprintf("got %s, without what was there before", got)
	case (gotErr == nil) != (wantErr == nil):
		return fmt.Sprintf("got error %v, want %v", gotErr, wantErr)
	case gotErr != nil && len(got) > 0:
		return fmt.Sprintf("got %q with the error %v", got, gotErr)
	case gotErr == nil && !same(got, want):
		return fmt.Sprintf("\ngot  %s\nwant %s", got, want)
	}
	return ""
}

// sameValue reports whether two texts decode to the same value. It is for text
// that encoding/json escapes in another way.
func sameValue(got, want []byte) bool {
	var a, b any
	da, db := json.NewDecoder(bytes.NewReader(got)), json.NewDecoder(bytes.NewReader(want))
	da.UseNumber()
	db.UseNumber()
	return da.Decode(&a) == nil && db.Decode(&b) == nil && reflect.DeepEqual(unquoted(a), unquoted(b))
}

// unquoted decodes the strings in v that are the JSON text of a string, as the
// tag option string writes strings.
func unquoted(v any) any {
	switch v := v.(type) {
	case string:
		var inner string
		if json.Unmarshal([]byte(v), &inner) == nil {
			return []string{inner}
		}
	case map[string]any:
		for k := range v {
			v[k] = unquoted(v[k])
		}
	case []any:
		for i := range v {
			v[i] = unquoted(v[i])
		}
	}
	return v
}

func TestTypesByHand(t *testing.T) {
	g := newGenerator(seed.Of(t))
	for _, zero := range byHand {
		typ := reflect.TypeOf(&zero).Elem()
		if zero != nil {
			typ = reflect.TypeOf(zero)
		}
		for i := range 60 {
			v := reflect.New(typ).Elem()
			if i > 0 {
				v = g.value(typ)
			}
			if why := differ(v, bytes.Equal); why != "" {
				t.Errorf("%.200s: %.2000s", typ, why)
				break
			}
		}
	}
}

func TestGeneratedTypes(t *testing.T) {
	from := seed.Of(t)
	for n := range short(400) {
		g := newGenerator(from + n)
		typ := g.structType(3)
		for range 20 {
			v := g.value(typ)
			if why := differ(v, bytes.Equal); why != "" {
				t.Errorf("seed %d: %.200s: %.2000s", from+n, typ, why)
				break
			}
		}
	}
}

func TestHostileText(t *testing.T) {
	from := seed.Of(t)
	for n := range short(200) {
		g := newGenerator(from + n)
		typ := g.structType(3)
		g.hostile = true
		for range 20 {
			v := g.value(typ)
			if _, err := oracle(v.Addr().Interface()); err != nil {
				continue // NaN and the like
			}
			if why := differ(v, sameValue); why != "" {
				t.Errorf("seed %d: %.200s: %.2000s", from+n, typ, why)
				break
			}
		}
	}
}
