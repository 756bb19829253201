// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/seed"
)

// classOf returns the class of a key in these tests.
func classOf(key string) Class {
	switch key {
	case "time", "level", "n\n":
		return Never
	case "message":
		return Late
	}
	return Free
}

func TestShorten(t *testing.T) {
	const x20 = "xxxxxxxxxxxxxxxxxxxx"
	tests := []struct {
		name  string
		line  string
		limit int
		want  string
	}{
		{"short enough", `{"a":"` + x20 + `"}`, 28, `{"a":"` + x20 + `"}`},
		{"one byte too long", `{"a":"` + x20 + `"}`, 27, `{"a":"xxxx","truncated":16}`},
		{"longest first", `{"a":"` + x20 + x20 + `","b":"yyyyy"}`, 48, `{"a":"xxxxxxxxxxxxx","b":"yyyyy","truncated":27}`},
		{"to the same length", `{"a":"` + x20 + x20 + `","b":"` + x20 + `","c":"z"}`, 54, `{"a":"xxxxxxxx","b":"xxxxxxxx","c":"z","truncated":44}`},
		{"nested", `{"a":{"` + x20 + `":["` + x20 + `",{"b":"` + x20 + `"}]}}`, 67, `{"a":{"` + x20 + `":["xxxx",{"b":"xxxx"}]},"truncated":32}`},
		{"message late", `{"a":"` + x20 + `","message":"` + x20 + x20 + `"}`, 70, `{"a":"","message":"` + x20 + x20[:14] + `","truncated":26}`},
		{"message not touched", `{"a":"` + x20 + `","message":"` + x20 + x20 + `"}`, 80, `{"a":"xxxx","message":"` + x20 + x20 + `","truncated":16}`},
		{"never", `{"level":"` + x20 + x20 + `","time":"` + x20 + `","b":1}`, 50, `{"level":"` + x20 + x20 + `","time":"` + x20 + `","truncated":6}`},
		{"escaped key of a class", `{"n\n":"` + x20 + x20 + `","b":1}`, 10, `{"n\n":"` + x20 + x20 + `","truncated":6}`},
		{"largest member", `{"a":[1,2,3,4,5,6,7,8],"b":[1,2],"c":"` + x20 + `"}`, 48, `{"b":[1,2],"c":"xxxxxxxxxxxxxxx","truncated":27}`},
		{"no more members than have to", `{"a":[1,2,3,4],"b":[1,2,3,4,5,6,7],"c":12345}`, 40, `{"a":[1,2,3,4],"c":12345,"truncated":20}`},
		{"long key", `{"a":1,"` + x20 + x20 + `":"y","b":2}`, 40, `{"a":1,"b":2,"truncated":47}`},
		{"late member last", `{"message":[1,2,3,4,5,6],"a":1,"b":2}`, 36, `{"truncated":35}`},
		{"late member stays", `{"message":[1,2,3],"a":1,"b":[1,2,3,4]}`, 38, `{"message":[1,2,3],"truncated":20}`},
		{"all gone", `{"a":123456789,"b":123456789}`, 1, `{"truncated":27}`},
		{"limit 0", `{"a":1}`, 0, `{"truncated":5}`},
		{"negative limit", `{"a":1}`, -5, `{"truncated":5}`},
		{"empty object", `{}`, 1, `{"truncated":0}`},
		{"key taken", `{"truncated":1,"a":"` + x20 + x20 + `"}`, 50, `{"truncated":1,"a":"xxxxxxxxxxx","truncated#2":29}`},
		{"keys taken in any order", `{"truncated#3":1,"truncated":1,"truncated#2":2,"truncated#2":2,"a":"` + x20 + x20 + `"}`, 100, `{"truncated#3":1,"truncated":1,"truncated#2":2,"truncated#2":2,"a":"xxxxxxxxxxxx","truncated#4":28}`},
		{"no numbers", `{"truncated":1,"truncated#":1,"truncated#02":1,"truncated#2a":1,"truncated2":1,"a":"` + x20 + x20 + `"}`, 114, `{"truncated":1,"truncated#":1,"truncated#02":1,"truncated#2a":1,"truncated2":1,"a":"xxxxxxxxxx","truncated#2":30}`},
		{"number without the key", `{"truncated#2":1,"truncated#1":1,"a":"` + x20 + x20 + `"}`, 66, `{"truncated#2":1,"truncated#1":1,"a":"xxxxxxxxxxx","truncated":29}`},
		{"escaped key taken", `{"tr\u0075ncated":1,"a":"` + x20 + x20 + `"}`, 55, `{"tr\u0075ncated":1,"a":"xxxxxxxxxxx","truncated#2":29}`},
		{"keys taken", `{"truncated":1,"truncated#2":2,"a":"` + x20 + x20 + `"}`, 66, `{"truncated":1,"truncated#2":2,"a":"xxxxxxxxxxx","truncated#3":29}`},
	}
	var s Scratch
	for _, tt := range tests {
		for _, end := range []string{"", "\n"} {
			limit := tt.limit + len(end)
			if got := Shorten([]byte("dst"), []byte(tt.line+end), limit, classOf, &s); string(got) != "dst"+tt.want+end {
				t.Errorf("%s\ngot  %q\nwant %q", tt.name, got, "dst"+tt.want+end)
			}
		}
	}
}

// Where a text may be cut: the length for each limit.
func TestCuts(t *testing.T) {
	tests := []struct {
		text string
		want []int
	}{
		{`abc`, []int{0, 1, 2}},
		{`é中🙂x`, []int{0, 0, 2, 2, 2, 5, 5, 5, 5, 9}},
		{`a\n\"\\b`, []int{0, 1, 1, 3, 3, 5, 5, 7}},
		{`\\\\\"`, []int{0, 0, 2, 2, 4, 4}},
		{`\u0001a`, []int{0, 0, 0, 0, 0, 0, 6}},
		{`\ud83d\ude42a`, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12}},
		{`\ud83d\u0041\n`, []int{0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 6, 12, 12}},
		{`\ude42\ude42`, []int{0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 6}},
	}
	for _, tt := range tests {
		for limit, want := range tt.want {
			if got := cutLen([]byte(tt.text), limit); got != want {
				t.Errorf("%s cut to %d: got %d, want %d", tt.text, limit, got, want)
			}
		}
	}
}

// checkShorten checks the result for one limit against the promises of Shorten.
func checkShorten(t *testing.T, line []byte, limit int, s *Scratch) {
	t.Helper()
	got := Shorten(nil, line, limit, classOf, s)
	if len(line) <= limit {
		if string(got) != string(line) {
			t.Fatalf("limit %d: got %s, want %s", limit, got, line)
		}
		return
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nlimit %d\nline %d %s\ngot  %d %s", fmt.Sprintf(format, args...), limit, len(line), line, len(got), got)
	}
	if !utf8.Valid(got) {
		fail("not UTF-8")
	}
	src, out := decode(t, line), decode(t, got)
	last := out[len(out)-1]
	out = out[:len(out)-1]
	added := len(`,"":`) + len(last.key) + len(last.value.(json.Number))
	if len(out) == 0 {
		added--
	}
	if n, err := strconv.Atoi(string(last.value.(json.Number))); err != nil || n != len(line)-(len(got)-added) || !strings.HasPrefix(last.key, truncated) {
		fail("%s is %v, want %d", last.key, last.value, len(line)-(len(got)-added))
	}
	c := cut{fail: fail, room: limit - len(got)}
	c.compare(src, out)
	if len(got) > limit {
		for _, m := range out {
			if classOf(m.key) != Never {
				fail("it is too long, and %q is still there", m.key)
			}
		}
		return
	}
	if again := Shorten(nil, got, limit, classOf, s); string(again) != string(got) {
		fail("not idempotent: %s", again)
	}
}

// cut compares a line with its shortened form.
type cut struct {
	fail func(string, ...any)
	room int // bytes left to the limit

	longest [Never]int  // the longest string that was cut, in bytes of the line
	kept    [Never]int  // the longest string that was not cut
	gone    [Never]bool // a member is
}

// slack is how much shorter a cut string may be than another: a surrogate pair
// is 12 bytes that stay together.
const slack = 11

func (c *cut) compare(src, out object) {
	for i, m := range src {
		class := classOf(m.key)
		if len(out) == 0 || !c.same(class, m, out[0], len(src)-i == len(out)) {
			if class == Never {
				c.fail("%q is gone", m.key)
			}
			c.gone[class] = true
			continue
		}
		out = out[1:]
	}
	if len(out) > 0 {
		c.fail("%q is too much", out[0].key)
	}
	if c.gone[Late] && len(src) > 0 && (c.longest[Free] > 0 || c.kept[Free] > 0) {
		c.fail("a late member is gone, and a free one is not")
	}
	if c.longest[Late] > 0 && (c.longest[Free] > 0 || c.kept[Free] > 0) {
		c.fail("a late string was cut, and a free one has %d bytes", max(c.longest[Free], c.kept[Free]))
	}
	for class := Free; class < Never; class++ {
		if c.longest[class] > 0 && c.kept[class] > c.longest[class]+slack {
			c.fail("a string was cut to %d bytes, and another one has %d", c.longest[class], c.kept[class])
		}
	}
}

// same reports whether got can be the rest of m. Members with the same key are
// distinguished by values that can be in the rest of the line; with must, it
// has to be.
func (c *cut) same(class Class, m, got pair, must bool) bool {
	if m.key != got.key {
		return false
	}
	ok := c.value(class, m.value, got.value)
	if !ok && must {
		c.fail("%q has changed otherwise", m.key)
	}
	return ok
}

func (c *cut) value(class Class, src, got any) bool {
	switch src := src.(type) {
	case object:
		got, ok := got.(object)
		if !ok || len(got) != len(src) {
			return false
		}
		for i := range src {
			if src[i].key != got[i].key || !c.value(class, src[i].value, got[i].value) {
				return false
			}
		}
		return true
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(src) {
			return false
		}
		for i := range src {
			if !c.value(class, src[i], got[i]) {
				return false
			}
		}
		return true
	case string:
		got, ok := got.(string)
		if !ok || !strings.HasPrefix(src, got) || class == Never && src != got {
			return false
		}
		if class < Never {
			// Within slack: the line's text may be escaped otherwise.
			n := len(jsonenc.AppendString(nil, got)) - 2
			if src == got {
				c.kept[class] = max(c.kept[class], n)
			} else {
				c.longest[class] = max(c.longest[class], n)
			}
		}
		return true
	}
	return reflect.DeepEqual(src, got)
}

func TestShortenSeeds(t *testing.T) {
	var s Scratch
	for _, line := range lineSeeds {
		if line = compactObject(line); line == nil {
			continue
		}
		for limit := range len(line) + 2 {
			checkShorten(t, line, limit, &s)
		}
	}
}

// randomLine is a line as nib writes it, with unlike keys.
func randomLine(r *rand.Rand) []byte {
	text := func() string {
		return strings.Repeat([]string{"x", "é", "中", "🙂", "\n", "\"", "\x01", "a b"}[r.IntN(8)], r.IntN(60))
	}
	line := jsonenc.AppendString([]byte(`{"level":"info","message":`), text())
	for i := range r.IntN(8) {
		line = fmt.Appendf(line, `,"k%d%s":`, i, strings.Repeat("k", r.IntN(10)*r.IntN(10)))
		switch r.IntN(4) {
		case 0:
			line = strconv.AppendInt(line, r.Int64(), 10)
		case 1:
			line = jsonenc.AppendString(append(line, `{"a":[1,`...), text())
			line = append(line, `]}`...)
		default:
			line = jsonenc.AppendString(line, text())
		}
	}
	return append(line, "}\n"...)
}

func TestShortenRandomLines(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	var s Scratch
	for range 5000 {
		line := randomLine(r)
		checkShorten(t, line, r.IntN(len(line)+1), &s)
	}
}

// No more is cut than necessary: with texts of single bytes, the limit is
// reached except for the digits that had to be reserved and the remainder of a
// division.
func TestShortenUsesItsRoom(t *testing.T) {
	var s Scratch
	for n := 1; n < 10; n++ {
		line := []byte(`{"level":"info"`)
		for i := range n {
			line = fmt.Appendf(line, `,"k%d":"%s"`, i, strings.Repeat("x", 100*i+20))
		}
		line = append(line, "}\n"...)
		for limit := 40 + 8*n; limit < len(line); limit++ {
			got := Shorten(nil, line, limit, classOf, &s)
			if spare := limit - len(got); spare < 0 || spare > n+decimalLen(len(line)) {
				t.Fatalf("limit %d: %d bytes, %d spare for %d texts\n%s", limit, len(got), spare, n, got)
			}
		}
	}
}

func TestShortenWithoutClasses(t *testing.T) {
	var s Scratch
	if got, want := string(Shorten(nil, []byte(`{"level":"information","a":12345678901}`), 31, nil, &s)), `{"level":"info","truncated":23}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestShortenLeavesBrokenLinesAlone(t *testing.T) {
	var s Scratch
	for _, line := range []string{``, `{`, `"`, `{"a`, `{"a":`, `{"a":1`, `{"a":"\`, `{"a":"\u"`, `{"a":["b"`, `{"a":1,}`, `{"a":1]`, `x`, `{a:1}`, `{"a":b"c}`, `[1]`, "\n"} {
		if got := Shorten(nil, []byte(line), 0, classOf, &s); string(got) != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
}

func FuzzShorten(f *testing.F) {
	for i, line := range lineSeeds {
		f.Add(line, 10*i%100)
	}
	f.Add([]byte(`{"a":,"b":"text"}`), 5) // no value
	var s Scratch
	f.Fuzz(func(t *testing.T, src []byte, limit int) {
		Shorten(nil, src, limit, classOf, &s) // must not panic
		if line := compactObject(src); line != nil {
			checkShorten(t, line, limit, &s)
		}
	})
}

// Quadratic time would take minutes here.
func TestShortenTakesTimeInProportionToItsLine(t *testing.T) {
	var s Scratch
	for _, key := range []string{`"truncated":0`, `"truncated#%d":0`} {
		line := []byte(`{"truncated":0`)
		for i := range 200_000 {
			line = append(line, ',')
			line = append(line, strings.Replace(key, "%d", strconv.Itoa(i), 1)...)
		}
		line = append(line, '}')
		if got := Shorten(nil, line, len(line)-1, nil, &s); len(got) >= len(line) {
			t.Errorf("%d bytes of %d", len(got), len(line))
		}
	}
}

// The first members may be left out of a line, if they need no edit.
func TestEditsWithoutTheFirstMembers(t *testing.T) {
	const first = `{"t":1`
	var s Scratch
	keys := NewKeys([]string{"key"})
	class := func(key string) Class {
		if key == "t" {
			return Never
		}
		return Free
	}
	edits := map[string]func(line []byte, less int) []byte{
		"redact":     func(line []byte, _ int) []byte { return Redact(nil, line, keys) },
		"last wins":  func(line []byte, _ int) []byte { return Duplicates(nil, line, LastWins, &s) },
		"first wins": func(line []byte, _ int) []byte { return Duplicates(nil, line, FirstWins, &s) },
		"rename":     func(line []byte, _ int) []byte { return Duplicates(nil, line, Rename, &s) },
	}
	for limit := range 50 {
		edits[fmt.Sprint("shorten to ", limit)] = func(line []byte, less int) []byte {
			return Shorten(nil, line, limit-less, class, &s)
		}
	}
	for name, edit := range edits {
		for _, rest := range []string{
			`,"a":1}`, `,"key":"k"}`, `,"a":1,"a":2}`, `,"a":1,"key":"k","a":"x"}`,
			`,"truncated":1,"a":{"b":"long text"}}`,
		} {
			rest += "\n"
			want := string(edit([]byte(first+rest), 0))
			got := edit([]byte(rest), len(first))
			if len(got) > 0 {
				got = append([]byte(first), got...)
			}
			if string(got) != want {
				t.Errorf("%s, %s\n got %s\nwant %s", name, rest, got, want)
			}
		}
	}
}
