// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/must"
)

// compacted is the oracle: encoding/json checks src and removes the white
// space, and the characters within strings are escaped one at a time.
func compacted(src []byte) (string, bool) {
	var buf bytes.Buffer
	if json.Compact(&buf, src) != nil {
		return "", false
	}
	var out []byte
	for text := buf.Bytes(); len(text) > 0; {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\\' && text[1] == 'u':
			n = 6
			unit := func(at int) (r rune) {
				if at+6 <= len(text) && string(text[at:at+2]) == `\u` {
					_, _ = fmt.Sscanf(string(text[at+2:at+6]), "%x", &r)
				}
				return r
			}
			high := unit(0)
			switch {
			case !utf16.IsSurrogate(high):
				out = append(out, text[:n]...)
			case utf16.DecodeRune(high, unit(6)) != utf8.RuneError:
				n = 12
				out = append(out, text[:n]...)
			default:
				out = append(out, "\ufffd"...)
			}
		case r == '\\':
			n = 2
			out = append(out, text[:n]...)
		case r < 0x7f:
			out = append(out, text[:n]...)
		default: // not ASCII is always within a string
			quoted := jsonenc.AppendBytes(nil, text[:n])
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		text = text[n:]
	}
	return string(out), true
}

// depthOf returns the nesting of valid JSON.
func depthOf(src []byte) int {
	deepest, depth := 0, 0
	dec := json.NewDecoder(bytes.NewReader(src))
	for {
		token, err := dec.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
			deepest = max(deepest, depth)
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
}

func checkCompact(t *testing.T, src []byte) {
	t.Helper()
	want, ok := compacted(src)
	if got := Valid(src); got != ok {
		t.Fatalf("Valid(%q) = %v, want %v", src, got, ok)
	}
	if got, want := IsScalar(src), ok && !bytes.ContainsAny(src, "\"{[ \t\r\n"); got != want {
		t.Fatalf("IsScalar(%q) = %v, want %v", src, got, want)
	}
	for _, dst := range [][]byte{nil, []byte("full")[:4:4], append(make([]byte, 0, 4096), "roomy"...)} {
		got, err := AppendCompact(dst, src, maxValidDepth)
		switch {
		case ok && (err != nil || string(got) != string(dst)+want):
			t.Fatalf("AppendCompact(%q)\ngot  %s, %v\nwant %s%s", src, got, err, dst, want)
		case !ok && (!errors.Is(err, ErrSyntax) || string(got) != string(dst)):
			t.Fatalf("AppendCompact(%q)\ngot  %s, %v\nwant %s, %v", src, got, err, dst, ErrSyntax)
		}
	}
	if got := ErrorOffset(src, maxValidDepth); got >= 0 != !ok || got > len(src) {
		t.Fatalf("ErrorOffset(%q) = %d, valid %v", src, got, ok)
	}
	if !ok {
		return
	}
	if depth := depthOf(src); depth > 0 {
		if _, err := AppendCompact(nil, src, depth); err != nil {
			t.Fatalf("AppendCompact(%q, %d): %v", src, depth, err)
		}
		if got, err := AppendCompact([]byte("x"), src, depth-1); err != ErrDepth || string(got) != "x" {
			t.Fatalf("AppendCompact(%q, %d) = %q, %v, want %v", src, depth-1, got, err, ErrDepth)
		}
	}
}

var compactSeeds = []string{
	``, ` `, `1`, ` -0.5e+10 `, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x10`, `NaN`, `Infinity`, `1 2`,
	`true`, `tru`, `truex`, `nul`, `null `, `"`, `""`, `"a`, `"\`, `"\u12"`, `"\u12G4"`, `"\x41"`, `"\ud800"`, `"\ud83d\ude42"`,
	"\"\n\"", "\"\x00\"", "\"\x7f\"", "\"\u0080 \u2028 \ufeff \xff\xed\xa0\x80\"", `"中文, ünïcödé 🙂 and plain text behind it"`,
	"\ufeff1", "1\x00", "\v1", "\f1", "\u00a01",
	`[]`, `[ ]`, `[,]`, `[1,]`, `[1 2]`, `[1}`, `[`, `]`, `[[]`, `[[]]]`, `{}`, `{ }`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`,
	`{"a":1 "b":2}`, `{"a" : 1 , "b" : [ { } , [ ] , "" ] }`, `{1:2}`, `{"a":1]`, "\t{\r\n\"a\":\t[1,\n2]}\n", `{"a":1}{"b":2}`, `[[[[[1]]]]]`,
	`/* c */ 1`, `[1,//x` + "\n" + `2]`, `'a'`, `{"\u0061":"\/"}`,
}

// Half of a surrogate pair is not a character; strict readers reject it.
func TestCompactReplacesHalfSurrogatePairs(t *testing.T) {
	for src, want := range map[string]string{
		`"\ud800"`:              "\"\ufffd\"",
		`"\uDFFF"`:              "\"\ufffd\"",
		`"a\ud800b"`:            "\"a\ufffdb\"",
		`"\ud800\ud800"`:        "\"\ufffd\ufffd\"",
		`"\ud800\udc00"`:        `"\ud800\udc00"`,
		`"\ud800\ud83d\ude42"`:  "\"\ufffd\\ud83d\\ude42\"",
		`"\ude42\ud83d"`:        "\"\ufffd\ufffd\"",
		`"\ud800\n"`:            "\"\ufffd\\n\"",
		`"\ud800\u0041"`:        "\"\ufffd\\u0041\"",
		`"\\ud800"`:             `"\\ud800"`,
		`{"\ud800":["\udfff"]}`: "{\"\ufffd\":[\"\ufffd\"]}",
	} {
		if got, err := AppendCompact(nil, []byte(src), 9); string(got) != want || err != nil {
			t.Errorf("AppendCompact(%s) = %s, %v, want %s", src, got, err, want)
		}
		checkCompact(t, []byte(src))
	}
}

func TestCompactSeeds(t *testing.T) {
	for _, s := range compactSeeds {
		checkCompact(t, []byte(s))
	}
}

// A valid value with one byte replaced, removed or doubled at each position.
func TestCompactWithOneByteChanged(t *testing.T) {
	const text = `{"a":[1,-2.5e-7,true,null,"x\n\u00e9é中🙂"], "bc" : {"d":false}}`
	for i := range text {
		checkCompact(t, []byte(text[:i]))
		checkCompact(t, []byte(text[:i]+text[i+1:]))
		for c := range 256 {
			checkCompact(t, []byte(text[:i]+string([]byte{byte(c)})+text[i+1:]))
			checkCompact(t, []byte(text[:i]+string([]byte{byte(c)})+text[i:]))
		}
	}
}

func TestCompactExamples(t *testing.T) {
	tests := []struct{ in, want string }{
		{" {\"a\" : [ 1.50 , 2E+3 ] }\n", `{"a":[1.50,2E+3]}`},
		{"\"\x7f\u0085\u2028\u202e\ufeff\"", `"\u007f\u0085\u2028\u202e\ufeff"`},
		{"\"a\xffb\"", "\"a\ufffdb\""},
		{`"\u00E9\/"`, `"\u00E9\/"`},
	}
	for _, tt := range tests {
		if got, err := AppendCompact(nil, []byte(tt.in), 32); string(got) != tt.want || err != nil {
			t.Errorf("AppendCompact(%q)\ngot  %s, %v\nwant %s", tt.in, got, err, tt.want)
		}
	}
}

func TestCompactDepth(t *testing.T) {
	for _, n := range []int{1, 2, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 130, 192, 193, 1000, 9999, 10000, 10001} {
		for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}} {
			src := strings.Repeat(pair[0], n) + "1" + strings.Repeat(pair[1], n)
			depth := n*strings.Count(pair[1], "]") + n*strings.Count(pair[1], "}")
			got, err := AppendCompact(nil, []byte(src), depth)
			if err != nil || string(got) != src {
				t.Errorf("%d × %s: %v", n, pair[0], err)
			}
			if _, err := AppendCompact(nil, []byte(src), depth-1); err != ErrDepth {
				t.Errorf("%d × %s, one too deep: %v, want %v", n, pair[0], err, ErrDepth)
			}
			if got, want := Valid([]byte(src)), depth <= maxValidDepth; got != want {
				t.Errorf("Valid(%d × %s) = %v, want %v", n, pair[0], got, want)
			}
			if Valid([]byte(src[:len(src)-1])) || Valid([]byte(src+"]")) || Valid([]byte(src+"}")) {
				t.Errorf("%d × %s: unbalanced brackets are valid", n, pair[0])
			}
		}
	}
	if got, err := AppendCompact(nil, []byte("1"), 0); string(got) != "1" || err != nil {
		t.Errorf("depth 0: %s, %v, want 1", got, err)
	}
	if _, err := AppendCompact(nil, []byte("[]"), -1); err != ErrDepth {
		t.Errorf("depth -1: %v, want %v", err, ErrDepth)
	}
}

func TestErrorOffset(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{`{"a":1}`, -1}, {`{"a":x}`, 5}, {`[1,]`, 3}, {`[1`, 2}, {`"ab` + "\n\"", 3}, {`[1.x]`, 3}, {`"a\x"`, 2}, {`1 1`, 2}, {``, 0},
	}
	for _, tt := range tests {
		if got := ErrorOffset([]byte(tt.in), 32); got != tt.want {
			t.Errorf("ErrorOffset(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

// suite returns the folder test_parsing of github.com/nst/JSONTestSuite.
func suite(t *testing.T) string {
	if dir := os.Getenv("NIB_JSONTESTSUITE"); dir != "" {
		return filepath.Join(dir, "test_parsing")
	}
	dir, err := os.Getwd()
	must.Succeed(t, err)
	for {
		if d := filepath.Join(dir, "shared", "data", "JSONTestSuite", "test_parsing"); isDir(d) {
			return d
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("no JSONTestSuite here; NIB_JSONTESTSUITE can name its folder")
		}
		dir = parent
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func TestJSONTestSuite(t *testing.T) {
	dir := suite(t)
	files, err := os.ReadDir(dir)
	must.Succeed(t, err)
	count := map[byte]int{}
	for _, file := range files {
		src, err := os.ReadFile(filepath.Join(dir, file.Name()))
		must.Succeed(t, err)
		kind := file.Name()[0]
		count[kind]++
		got, err := AppendCompact(nil, src, 1000)
		switch {
		case kind == 'y' && (err != nil || !Valid(src)):
			t.Errorf("%s: refused: %v", file.Name(), err)
		case kind == 'n' && (err == nil || Valid(src)):
			t.Errorf("%s: accepted", file.Name())
		case err == nil && !(json.Valid(got) && utf8.Valid(got) && Valid(got)):
			t.Errorf("%s: output is not valid: %q", file.Name(), got)
		}
		if kind != 'n' || len(src) < 10000 {
			checkFields(t, src)
		}
	}
	if count['y'] < 90 || count['n'] < 180 {
		t.Errorf("only %d y_ and %d n_ files in %s", count['y'], count['n'], dir)
	}
}

func FuzzCompact(f *testing.F) {
	for _, s := range compactSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkCompact(t, src) })
}
