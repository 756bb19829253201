// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/must"
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
		must.Succeed(t, err)
		var value json.RawMessage
		must.Succeed(t, dec.Decode(&value))
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

// checkMembers compares Members with Fields, and checks that an object is
// complete if it is valid.
func checkMembers(t *testing.T, obj []byte) {
	t.Helper()
	var want []string
	for name, value := range Fields(obj) {
		want = append(want, string(name), string(value))
	}
	m, got := MembersOf(obj), []string(nil)
	for s := new(Span); m.Next(s); {
		got = append(got, string(s.Key(obj)), string(s.Value(obj)))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Next(%q)\ngot  %q\nwant %q", obj, got, want)
	}
	pairs := MembersOf(obj)
	checkPairs(t, obj, appendPairs(obj, &pairs, false), false)
	pairs = MembersOf(obj)
	checkPairs(t, obj, appendPairs(obj, &pairs, true), true)
	object := bytes.HasPrefix(bytes.TrimLeft(obj, " \t\r\n"), []byte{'{'})
	for _, m := range []*Members{&m, &pairs} {
		if got, want := m.Complete(), json.Valid(obj); object && got != want {
			t.Fatalf("Complete(%q) = %v, want %v", obj, got, want)
		}
	}
}

// appendPairs returns the members of obj as <key=value, and those that
// AppendPairs leaves out as >key=value, one in a row.
func appendPairs(obj []byte, m *Members, quotesEqual bool) (rows []byte) {
	p := NewPairs("<", "=", '\n', quotesEqual, "level", "")
	for s := new(Span); ; {
		var ok bool
		if rows, ok = m.AppendPairs(rows, p, s); !ok {
			return rows
		}
		rows = fmt.Appendf(rows, ">%s=%s\n", s.Key(obj), s.Value(obj))
	}
}

// checkPairs fails t unless rows are the members of obj in their order.
func checkPairs(t *testing.T, obj, rows []byte, quotesEqual bool) {
	t.Helper()
	rest := rows
	for key, value := range Fields(obj) {
		after, ok := bytes.CutPrefix(rest, fmt.Appendf(nil, ">%s=%s\n", key, value))
		if pair := pairOf(key, value, quotesEqual); !ok && pair != "" {
			after, ok = bytes.CutPrefix(rest, []byte("<"+pair+"\n"))
		}
		if !ok {
			t.Fatalf("AppendPairs(%q) = %q, no %s at %q", obj, rows, key, rest)
		}
		rest = after
	}
	if len(rest) > 0 {
		t.Fatalf("AppendPairs(%q) = %q, want nothing at %q", obj, rows, rest)
	}
}

var shortEscape = regexp.MustCompile(`\\[\\"nrtbf]`)

// pairOf returns a member as all views write it that agree about =, or "" if
// they differ.
func pairOf(key, value []byte, quotesEqual bool) string {
	isPlain := func(text []byte) bool {
		for _, r := range string(text) {
			if r == utf8.RuneError || unicode.IsSpace(r) || jsonenc.Escaped(r) ||
				strings.ContainsRune(`"\{}[]`, r) || r == '=' && quotesEqual {
				return false
			}
		}
		return len(text) > 0
	}
	if !isPlain(key) || bytes.IndexByte(key, '=') >= 0 || len(key) > utf8.RuneCount(key) ||
		string(key) == "level" || value[0] == '{' || value[0] == '[' {
		return ""
	}
	if value[0] == '"' {
		switch text := value[1 : len(value)-1]; {
		case isPlain(text) && !IsScalar(text):
			value = text
		case len(text) == 0, IsScalar(text):
		default:
			bare := shortEscape.ReplaceAll(text, nil)
			quoted := bytes.ContainsAny(bytes.ReplaceAll(text, []byte(`\\`), nil), ` \`)
			if quotesEqual && bytes.IndexByte(text, '=') >= 0 {
				quoted = true
			}
			if !quoted || jsonenc.CleanLen(bare) < len(bare) {
				return ""
			}
		}
	}
	return string(key) + "=" + string(value)
}

func TestMostMembersArePairs(t *testing.T) {
	obj := []byte(`{"time":"2026-01-02T15:04:05.000Z","level":"info","status":200,"ok":true,` +
		`"took":-1.5,"path":"/v1/a?b","agent":"Mozilla/5.0 (X11; Linux)","none":"","n":"12",` +
		`"del":"` + "\x7f" + `","q":"a=b","a b":1,"é":2,"list":[1],"size":"größe 1","":3,` +
		`"escaped":"a\n\\b",` +
		`"file":"C:\\a","unicode":"\u00e9 a"` +
		`,"city":"Größe中","wide":"中　文","fffd":"` + "\ufffd" + `" , "user" : "alice"}`)
	want := "<time=2026-01-02T15:04:05.000Z\n>level=\"info\"\n<status=200\n<ok=true\n" +
		"<took=-1.5\n<path=/v1/a?b\n<agent=\"Mozilla/5.0 (X11; Linux)\"\n<none=\"\"\n<n=\"12\"\n" +
		">del=\"\x7f\"\n<q=\"a=b\"\n>a b=1\n>é=2\n>list=[1]\n<size=\"größe 1\"\n>=3\n" +
		"<escaped=\"a\\n\\\\b\"\n" +
		">file=\"C:\\\\a\"\n>unicode=\"\\u00e9 a\"\n" +
		"<city=Größe中\n>wide=\"中　文\"\n>fffd=\"\ufffd\"\n" +
		"<user=alice\n"
	m := MembersOf(obj)
	if got := string(appendPairs(obj, &m, true)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m, want = MembersOf(obj), strings.Replace(want, `<q="a=b"`, `<q=a=b`, 1)
	if got := string(appendPairs(obj, &m, false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

var fieldSeeds = []string{
	``, `{`, `{}`, "{}\n", `,`, `{"a":1}`, "{\"a\":1,\"b\":\"x\"}\n", `,"a":1,"b":[1,{"c":2}]`, `{"a":1,"a":2,"a":{"a":3}}`,
	`{"a":1,"b":"cut`, `{"a":1,"b":[1,2`, `{"a":1,"b`, `{"a":1,"b"`, `{"a":1,"b":`, `{"a":1,`, `{"a":tru`, `{"a":-`, `{"a":12`,
	`{ "a" : 1 , "b" : { } }`, `{"a":1 ,"b":"x" ,"c":2}`, `{"\u0061\"\n":1,"😀\ud83d\ude00":2,"":3}`, `["a"]`, `{"a" 1}`, `{"a":1 "b":2}`, `x`, "{\"\xff\":1}", "{\"a\n:1}", `{"a\\":1}`,
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
	pairs := NewPairs("", "=", ' ', true)
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
		{"AppendPairs", func() {
			members, s := MembersOf(obj), Span{}
			for ok := true; ok; {
				dst, ok = members.AppendPairs(dst[:0], pairs, &s)
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

func TestElements(t *testing.T) {
	for src, want := range map[string][]string{
		`[]`: nil, ` [ ] `: nil, `{}`: nil, ``: nil, `1`: nil, `[,]`: nil,
		`[1]`: {"1"},
		` [ 1 , "a,]" , [2,3],{"b":[4]} ,null ] `: {"1", `"a,]"`, "[2,3]", `{"b":[4]}`, "null"},
		`[1,]`:  {"1"},
		`[1 2]`: {"1"},
		`["a`:   nil,
	} {
		var got []string
		for e := range Elements([]byte(src)) {
			if cap(e) != len(e) {
				t.Errorf("%s: an element has capacity behind it", src)
			}
			got = append(got, string(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("Elements(%s) = %q, want %q", src, got, want)
		}
	}
}
