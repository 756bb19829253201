// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A wrong is a text that must not be valid, and why.
type wrong struct {
	how  string
	line []byte
}

// damage returns copies of a line, each with one error. A value for which the
// schema allows anything, or that it does not mention, cannot be wrong.
func damage(t *testing.T, s *jsonschema.Schema, line []byte) []wrong {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		t.Fatal(err)
	}
	var all []wrong
	write := func(how string) {
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, wrong{how, text})
	}
	var walk func(s *jsonschema.Schema, v any, set func(v any))
	walk = func(s *jsonschema.Schema, v any, set func(v any)) {
		s, null := resolve(s, v)
		if s == nil {
			return
		}
		for how, bad := range instead(s, v, null) {
			set(bad)
			write(how)
			set(v)
		}
		switch v := v.(type) {
		case map[string]any:
			for _, key := range s.Required {
				kept := v[key]
				delete(v, key)
				write("without " + key)
				v[key] = kept
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				of, ok := s.Properties[key]
				if !ok {
					of, ok = s.AdditionalProperties.(*jsonschema.Schema)
				}
				if ok {
					walk(of, v[key], func(bad any) { v[key] = bad })
				}
			}
		case []any:
			for i := range v {
				if s.Items2020 != nil {
					walk(s.Items2020, v[i], func(bad any) { v[i] = bad })
				}
			}
		}
	}
	walk(s, root, func(bad any) { root = bad })
	return all
}

// resolve follows references and picks the alternative that applies to v. It
// returns nil for a schema that allows anything, and whether null is an
// alternative.
func resolve(s *jsonschema.Schema, v any) (to *jsonschema.Schema, null bool) {
	for {
		null = null || slices.ContainsFunc(s.AnyOf, func(s *jsonschema.Schema) bool { return allows(s, "null") })
		switch {
		case s.Bool != nil:
			return nil, null
		case s.Ref != nil:
			s = s.Ref
		case len(s.AnyOf) > 0 && v != nil && s.AnyOf[0].Ref != nil:
			s = s.AnyOf[0].Ref
		case s.Types == nil && s.Const == nil && len(s.AnyOf) == 0:
			return nil, null
		default:
			return s, null || allows(s, "null")
		}
	}
}

func allows(s *jsonschema.Schema, name string) bool {
	return s.Types != nil && slices.Contains(s.Types.ToStrings(), name)
}

// instead returns values that must not replace v.
func instead(s *jsonschema.Schema, v any, null bool) map[string]any {
	bad := map[string]any{}
	for name, other := range map[string]any{"boolean": true, "string": "no such text",
		"object": map[string]any{}, "array": []any{}} {
		if !allows(s, name) && (name != "object" || s.AnyOf == nil) {
			bad[name] = other
		}
	}
	if allows(s, "integer") {
		bad["a fraction"] = 1.5
	}
	if !null && v != nil {
		bad["null"] = nil
	}
	if s.Maximum != nil {
		bad["too large"] = json.Number(s.Maximum.Num().String() + "0")
	}
	if s.Minimum != nil {
		bad["too small"] = json.Number("-1" + s.Minimum.Num().String()[1:] + "00")
	}
	if s.Pattern != nil {
		bad["not of the pattern"] = "x"
	}
	if list, ok := v.([]any); ok && s.MaxItems != nil {
		bad["too long"] = append(slices.Clone(list), list...)
		if len(list) > 0 {
			bad["too short"] = list[1:]
		} else {
			delete(bad, "too long")
			delete(bad, "array")
		}
	}
	if s.Format != nil {
		bad["no time"] = "2026-13-01T00:00:00Z"
	}
	return bad
}
