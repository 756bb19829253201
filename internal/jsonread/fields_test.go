// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib/alloctest"
)

// members is the oracle for valid objects.
func members(t *testing.T, obj []byte) []string {
	t.Helper()
	var list []string
	dec := json.NewDecoder(bytes.NewReader(obj))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%q=%s", name, value))
	}
	return list
}

// checkFields compares Fields and Lookup with encoding/json if obj is a valid
// object, and checks in any case that their results are parts of obj.
func checkFields(t *testing.T, obj []byte) {
	t.Helper()
	var got []string
	last := map[string]string{}
	for name, value := range Fields(obj) {
		if cap(name) != len(name) || cap(value) != len(value) || !Valid(value) {
			t.Fatalf("Fields(%q): name %q (cap %d), value %q (cap %d)", obj, name, cap(name), value, cap(value))
		}
		text, ok := AppendUnquoted(nil, append(append([]byte{'"'}, name...), '"'))
		if !ok {
			t.Fatalf("Fields(%q): name %q", obj, name)
		}
		got = append(got, fmt.Sprintf("%q=%s", text, value))
		last[string(text)] = string(value)
	}
	checkMembers(t, obj)
	if trimmed := bytes.TrimLeft(obj, " \t\r\n"); json.Valid(obj) && trimmed[0] == '{' {
		if want := members(t, obj); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("Fields(%q)\ngot  %s\nwant %s", obj, got, want)
		}
	}
	if !utf8.Valid(obj) {
		Lookup(obj, "a")
		return
	}
	for name, want := range last {
		if value, ok := Lookup(obj, name); string(value) != want || !ok {
			t.Fatalf("Lookup(%q, %q) = %s, %v, want %s", obj, name, value, ok, want)
		}
		if value, ok := Lookup(obj, name+"\\"); ok && last[name+"\\"] != string(value) {
			t.Fatalf("Lookup(%q, %q) = %s, want nothing", obj, name+"\\", value)
		}
	}
}

// checkMembers compares Members with Fields, and checks the classes of texts,
// and that an object is complete if it is valid.
func checkMembers(t *testing.T, obj []byte) {
	t.Helper()
	check := func(text []byte, of Text) {
		for _, c := range text {
			if of >= ASCIIText && (c < ' ' || c > '~' || c == '"' || c == '\\') ||
				of == PlainText && strings.IndexByte(" ={}[]", c) >= 0 {
				t.Fatalf("Next(%q): text %q has class %d", obj, text, of)
			}
		}
	}
	var want []string
	for name, value := range Fields(obj) {
		want = append(want, string(name), string(value))
	}
	m, got := MembersOf(obj), []string(nil)
	for s := new(Span); m.Next(s); {
		value := s.Value(obj)
		got = append(got, string(s.Key(obj)), string(value))
		check(s.Key(obj), s.OfKey)
		if value[0] == '"' {
			check(value[1:len(value)-1], s.OfValue)
		} else if s.OfValue != AnyText {
			t.Fatalf("Next(%q): %s has class %d", obj, value, s.OfValue)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Next(%q)\ngot  %q\nwant %q", obj, got, want)
	}
	object := bytes.HasPrefix(bytes.TrimLeft(obj, " \t\r\n"), []byte{'{'})
	if got, want := m.Complete(), json.Valid(obj); object && got != want {
		t.Fatalf("Complete(%q) = %v, want %v", obj, got, want)
	}
}

func TestTextClasses(t *testing.T) {
	m := MembersOf([]byte(`{"method":"GET","user_id":"Mozilla/5.0 (X11)",` +
		`"a b":"x=y","é":"a\\n","q":"123456789012345["}`))
	var got []Text
	for s := new(Span); m.Next(s); {
		got = append(got, s.OfKey, s.OfValue)
	}
	want := []Text{PlainText, PlainText, PlainText, ASCIIText, ASCIIText, ASCIIText,
		AnyText, AnyText, PlainText, ASCIIText}
	if !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

var fieldSeeds = []string{
	``, `{`, `{}`, "{}\n", `,`, `{"a":1}`, "{\"a\":1,\"b\":\"x\"}\n", `,"a":1,"b":[1,{"c":2}]`, `{"a":1,"a":2,"a":{"a":3}}`,
	`{"a":1,"b":"cut`, `{"a":1,"b":[1,2`, `{"a":1,"b`, `{"a":1,"b"`, `{"a":1,"b":`, `{"a":1,`, `{"a":tru`, `{"a":-`, `{"a":12`,
	`{ "a" : 1 , "b" : { } }`, `{"\u0061\"\n":1,"😀\ud83d\ude00":2,"":3}`, `["a"]`, `{"a" 1}`, `{"a":1 "b":2}`, `x`, "{\"\xff\":1}", "{\"a\n:1}", `{"a\\":1}`,
}

func TestFieldSeeds(t *testing.T) {
	for _, s := range append(fieldSeeds, compactSeeds...) {
		for i := range len(s) + 1 {
			checkFields(t, []byte(s[:i]))
		}
	}
}

func TestLookup(t *testing.T) {
	tests := []struct{ obj, key, want string }{
		{`{"a":1,"b":2}` + "\n", "b", `2`},
		{`{"a":1,"b":2,"a":[3]}`, "a", `[3]`},
		{`{"x":{"a":1}}`, "a", ``},
		{`,"a":"v","b":tru`, "a", `"v"`},
		{`,"a":"v","b":tru`, "b", ``},
		{`{"a":1`, "a", `1`},
		{`{"a":"cut`, "a", ``},
		{`{"\u0061":1}`, "a", `1`},
		{`{"\n\"\ud83d\ude00":1}`, "\n\"😀", `1`},
		{`{"a\\n":1}`, "a\\n", `1`},
		{`{"a\n":1}`, "a\\n", ``},
		{`{"":1}`, "", `1`},
		{`{"a": 1 , "b" : "x" }`, "b", `"x"`},
		{`{"ab":1}`, "a", ``},
		{`{"a":1}`, "ab", ``},
		{`{"a":1 "b":2}`, "b", ``},
		{`{"a":1;"b":2}`, "b", ``},
		{`{"a":1},"b":2`, "b", ``},
		{`;"b":2`, "b", ``},
		{`{"\ud800":1}`, "\ufffd", `1`},
	}
	for _, tt := range tests {
		value, ok := Lookup([]byte(tt.obj), tt.key)
		if string(value) != tt.want || ok != (tt.want != "") {
			t.Errorf("Lookup(%s, %q) = %q, %v, want %q", tt.obj, tt.key, value, ok, tt.want)
		}
	}
}

func TestFieldsStopsWhenYieldReturnsFalse(t *testing.T) {
	n := 0
	for range Fields([]byte(`{"a":1,"b":2,"c":3}`)) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d members, want 2", n)
	}
}

func FuzzFields(f *testing.F) {
	for _, s := range fieldSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, obj []byte) { checkFields(t, obj) })
}

func checkUnquoted(t *testing.T, quoted []byte) {
	t.Helper()
	var want string
	ok := len(quoted) > 0 && quoted[0] == '"' && quoted[len(quoted)-1] == '"' && json.Unmarshal(quoted, &want) == nil
	got, gotOK := AppendUnquoted([]byte("x"), quoted)
	if string(got) != "x"+want || gotOK != ok {
		t.Fatalf("AppendUnquoted(%q) = %q, %v, want %q, %v", quoted, got, gotOK, "x"+want, ok)
	}
}

func TestUnquoted(t *testing.T) {
	seeds := []string{
		`""`, `"`, ``, `"a`, `a"`, `"a"`, `"\"`, `"\\"`, `"\"\\\/\b\f\n\r\t"`, `"\u0000\u001f"`, `"\ud83d\ude42"`, `"\ud83d\u0041"`, `"\ud83d"`,
		`"\ude42\ud83d"`, `"\ud83dx"`, `"\uD83D\uDE42"`, `"\u12"`, `"\a"`, `"a"b"`, "\"\x1f\"", "\"\x7f\u0080\u2028\ufeff\"", "\"\xff\xed\xa0\x80\"",
		`"中文 🙂 and more plain text"`, ` "a"`, `"a" `, `1`,
	}
	for _, s := range seeds {
		checkUnquoted(t, []byte(s))
	}
}

func FuzzUnquoted(f *testing.F) {
	f.Add([]byte(`"\ud83d\ude42\n中"`))
	f.Fuzz(func(t *testing.T, quoted []byte) {
		checkUnquoted(t, quoted)
		checkUnquoted(t, append(append([]byte{'"'}, quoted...), '"'))
	})
}

func TestReadingAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 8192)
	obj := []byte(`{"a":1,"b":[1,2,{"c":null}],"text":"\u00e9é中\ud83d\ude42` + "\u2028\xff" + `","\u006bey":"value"}`)
	quoted := []byte(`"\u00e9é中\ud83d\ude42` + "\u2028\xff" + `"`)
	deep := []byte(strings.Repeat("[", 200) + strings.Repeat("]", 200))
	tests := []struct {
		name string
		f    func()
	}{
		{"AppendCompact", func() { dst, _ = AppendCompact(dst[:0], obj, 32) }},
		{"AppendCompactDeep", func() { dst, _ = AppendCompact(dst[:0], deep, 1000) }},
		{"AppendCompactErrDepth", func() { dst, _ = AppendCompact(dst[:0], deep, 32) }},
		{"AppendCompactErrSyntax", func() { dst, _ = AppendCompact(dst[:0], obj[:60], 32) }},
		{"Valid", func() { Valid(obj) }},
		{"Lookup", func() { Lookup(obj, "key") }},
		{"Fields", func() {
			for _, value := range Fields(obj) {
				dst = append(dst[:0], value...)
			}
		}},
		{"AppendUnquoted", func() { dst, _ = AppendUnquoted(dst[:0], quoted) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { alloctest.Zero(t, tt.f) })
	}
}

func TestLocateIsWhereLookupFinds(t *testing.T) {
	for _, obj := range []string{`{"a":1,"b":"x","a":[2]}`, `{ "a" : {"b":1} , "b" : null }`, `{"\u0061":7}`, `,"b":1`, `{}`, ``} {
		for _, key := range []string{"a", "b", "c"} {
			value, found := Lookup([]byte(obj), key)
			from, end, ok := Locate([]byte(obj), key)
			if ok != found || string(value) != obj[from:end] {
				t.Errorf("%s in %s: got %d to %d, %v, want %s, %v", key, obj, from, end, ok, value, found)
			}
		}
	}
}
