// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// quote is the oracle: the escaping rules of the package comment, one character
// at a time.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case strings.ContainsRune("\b\t\n\f\r", r):
			b.WriteString("\\" + string("btn?fr"[r-8]))
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0x2028, r == 0x2029, r == 0xfeff:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}

// checkString compares every string function with the oracle, appending to a
// slice without room, to a slice with content, and to a slice with room.
func checkString(t *testing.T, s string) {
	t.Helper()
	want := quote(s)
	if got := string(AppendString(nil, s)); got != want {
		t.Fatalf("AppendString(nil, %q)\ngot  %s\nwant %s", s, got, want)
	}
	full := []byte("full")
	if got := string(AppendBytes(full[:4:4], []byte(s))); got != "full"+want {
		t.Fatalf("AppendBytes(full, %q)\ngot  %s\nwant %s", s, got, "full"+want)
	}
	if got, want := string(AppendKey(full[:4:4], s)), "full,"+want+":"; got != want {
		t.Fatalf("AppendKey(full, %q)\ngot  %s\nwant %s", s, got, want)
	}
	if got, want := string(AppendKeyInt(full[:4:4], s, -17)), "full,"+want+":-17"; got != want {
		t.Fatalf("AppendKeyInt(full, %q)\ngot  %s\nwant %s", s, got, want)
	}
	if got, want := string(AppendKeyUint(full[:4:4], s, 17)), "full,"+want+":17"; got != want {
		t.Fatalf("AppendKeyUint(full, %q)\ngot  %s\nwant %s", s, got, want)
	}
	if got, want := string(AppendStrings(full[:4:4], []string{s, s})), "full["+want+","+want+"]"; got != want {
		t.Fatalf("AppendStrings(full, %q)\ngot  %s\nwant %s", s, got, want)
	}
	roomy := append(make([]byte, 0, 8*len(s)+64), "roomy"...)
	if got, want := string(AppendKeyString(roomy, s, s)), "roomy,"+want+":"+want; got != want {
		t.Fatalf("AppendKeyString(roomy, %q)\ngot  %s\nwant %s", s, got, want)
	}
	if got, want := string(AppendKeyString(full[:4:4], "k", s)), `full,"k":`+want; got != want {
		t.Fatalf("AppendKeyString(full, k, %q)\ngot  %s\nwant %s", s, got, want)
	}
}

func TestStringExamples(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"plain text", `"plain text"`},
		{`quote " and \ back`, `"quote \" and \\ back"`},
		{"\b\t\n\f\r", `"\b\t\n\f\r"`},
		{"\x00\x1b[31m\x7f", `"\u0000\u001b[31m\u007f"`},
		{"<a>&", `"<a>&"`},
		{"\u0080\u009f\u00a0", "\"\\u0080\\u009f\u00a0\""},
		{"\u2027\u2028\u2029\u202a\u202e\u202f", "\"\u2027\\u2028\\u2029\\u202a\\u202e\u202f\""},
		{"\u2065\u2066\u2069\u206a", "\"\u2065\\u2066\\u2069\u206a\""},
		{"\ufefe\ufeff\uff00", "\"\ufefe\\ufeff\uff00\""},
		{"\xff", "\"\ufffd\""},
		{"\xed\xa0\x80", "\"\ufffd\ufffd\ufffd\""},
		{"\xc0\x80\xe4\xb8x", "\"\ufffd\ufffd\ufffd\ufffdx\""},
		{"日本語、テスト", `"日本語、テスト"`},
		{"Grüße, привет, 🙂👍🏽", `"Grüße, привет, 🙂👍🏽"`},
	}
	for _, tt := range tests {
		if got := string(AppendString(nil, tt.in)); got != tt.want {
			t.Errorf("AppendString(%q)\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
		checkString(t, tt.in)
	}
}

func TestStringOfOneAndTwoBytes(t *testing.T) {
	for a := range 256 {
		checkString(t, string([]byte{byte(a)}))
		for b := range 256 {
			checkString(t, string([]byte{byte(a), byte(b)}))
		}
	}
}

// Each kind of first byte with every second byte, in front of enough text for
// the word-wise paths, and cut off at the end.
func TestStringOfThreeBytes(t *testing.T) {
	firsts := []byte("\x7f\x80\xbf\xc0\xc1\xc2\xc3\xc4\xd0\xdf" +
		"\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef" +
		"\xf0\xf1\xf3\xf4\xf5\xf7\xf8\xfc\xff")
	thirds := []byte("\x00A\x7f\x80\xa7\xa8\xae\xaf\xbb\xbf\xc0\xe2")
	dst := make([]byte, 0, 256)
	for _, a := range firsts {
		for b := range 256 {
			for _, c := range thirds {
				for _, tail := range []string{"", "\x80", "abcdefgh", "中文字"} {
					s := string([]byte{a, byte(b), c}) + tail
					if got, want := string(AppendString(dst, s)), quote(s); got != want {
						t.Fatalf("AppendString(%q)\ngot  %s\nwant %s", s, got, want)
					}
				}
			}
		}
	}
}

// Each first byte of four-byte characters with every second byte, complete and
// not, alone, behind each number of clean bytes, and in pairs.
func TestStringOfFourBytes(t *testing.T) {
	dst := make([]byte, 0, 256)
	for a := 0xf0; a <= 0xff; a++ {
		for b := range 256 {
			for _, rest := range []string{"", "\x80", "\x9f\x99", "\xbf\xbf", "\x80\x7f", "\xc0\x80"} {
				r := string([]byte{byte(a), byte(b)}) + rest
				for _, s := range []string{r, "🙂" + r, r + "🙂", r + r, "中" + r, r + " é", "a" + r + "bcdefghi", "abc" + r, "abcd" + r + "z", "abcdefg" + r} {
					if got, want := string(AppendString(dst, s)), quote(s); got != want {
						t.Fatalf("AppendString(%q)\ngot  %s\nwant %s", s, got, want)
					}
				}
			}
		}
	}
}

// Every code point among its neighbours, alone in ASCII, and behind a word.
func TestEveryCodePoint(t *testing.T) {
	const group = 8
	dst := make([]byte, 0, 1024)
	var run, spaced, apart []byte
	for r := rune(0); r <= utf8.MaxRune; r += group {
		run, spaced, apart = run[:0], spaced[:0], apart[:0]
		for k := range rune(group) {
			run = utf8.AppendRune(run, r+k)
			spaced = append(utf8.AppendRune(spaced, r+k), 'x')
			apart = append(utf8.AppendRune(apart, r+k), "behind it"...)
		}
		for _, s := range [][]byte{run, spaced, apart} {
			if got, want := string(AppendBytes(dst, s)), quote(string(s)); got != want {
				t.Fatalf("AppendBytes(%q)\ngot  %s\nwant %s", s, got, want)
			}
		}
	}
}

func TestRunesAtEveryAlignment(t *testing.T) {
	const text = "0123456789abcdefg"
	runes := []string{
		"\x00", "\n", "\"", "\\", "\x7f", "\u0080", "\u00a0", "é", "ж", "\u07ff", "\u0800", "€", "\u2028", "\u2066",
		"中", "、", ",", "\ud7ff", "\ue000", "\ufeff", "\ufffd", "\uffff", "\U00010000", "🙂", "\U0010ffff",
		"\x80", "\xc1", "\xed\xa0\x80", "\xe2\x80", "\xf0\x9f\x99", "\xf4\x90\x80\x80", "\xff",
	}
	for _, a := range runes {
		for before := 0; before <= 16; before++ {
			for after := 0; after <= 16; after++ {
				checkString(t, text[:before]+a+text[:after])
			}
			for _, b := range runes {
				checkString(t, text[:before]+a+b)
				checkString(t, a+text[:before]+b+"z")
			}
		}
	}
}

// Each character anywhere in a run of others, which are copied several at once.
func TestRunesInRunsOfOthers(t *testing.T) {
	runes := []string{
		"a", "\n", "\x7f", "\u0080", "\u009f", "\u00a0", "ÿ", "\u061b", "\u061c", "\u061d", "\u07ff", "\u0800", "\u1fff",
		"\u200d", "\u200e", "\u2027", "\u2028", "\u2069", "\u2fff", "\u3000", "\uabff", "\uac00", "\ucfff", "\ud7ff", "\ue000",
		"\ufefe", "\ufeff", "\uffff", "\U00010000", "\U0001efff", "\U0001f000", "\U0001ffff", "\U00020000", "\U0010ffff",
		"\x80", "\xc0\x80", "\xc3", "\xe3\x80", "\xe3\x40\x80", "\xe3\x80\xc0", "\xed\xa0\x80", "\xf0\x9f\x99", "\xf0\x8f\xbf\xbf", "\xfb\x80\x80",
	}
	for _, run := range []string{"é", "ж", "中", "한", "ก", "…", "🙂", "𐐷", "中 ", "abcdefg🙂"} {
		for _, r := range runes {
			for before := range 8 {
				for after := range 8 {
					s := strings.Repeat(run, before) + r + strings.Repeat(run, after)
					if got, want := string(AppendString(nil, s)), quote(s); got != want {
						t.Fatalf("AppendString(%q)\ngot  %s\nwant %s", s, got, want)
					}
				}
			}
		}
	}
}

func TestEveryLengthWithAControlByteAnywhere(t *testing.T) {
	for n := 0; n <= 100; n++ {
		s := []byte(strings.Repeat("abcdefghij", 10)[:n])
		checkString(t, string(s))
		for i := range s {
			old := s[i]
			for _, c := range []byte{0x00, 0x1f, '"', '\\', 0x7f, 0x80, 0xff} {
				s[i] = c
				if got, want := string(AppendString(nil, string(s))), quote(string(s)); got != want {
					t.Fatalf("AppendString(%q)\ngot  %s\nwant %s", s, got, want)
				}
			}
			s[i] = old
		}
	}
	for n := 1; n <= 40; n++ {
		for i := range n {
			for c := range 0x20 {
				s := []byte(strings.Repeat("x", n))
				s[i] = byte(c)
				checkString(t, string(s))
			}
		}
	}
}

// The output may grow at any point, even if every byte takes six.
func TestStringGrowsFromEveryCapacity(t *testing.T) {
	texts := []string{
		strings.Repeat("\x01", 30), strings.Repeat("a\n", 20), strings.Repeat("\u2028", 10),
		strings.Repeat("\xff", 30), "中文字中文字中文字中文字\x02\x02\x02\x02\x02\x02", strings.Repeat("x", 50),
	}
	for _, s := range texts {
		want := quote(s)
		for c := 1; c < 250; c++ {
			dst := append(make([]byte, 0, c), ':')
			if got := string(AppendString(dst, s)); got != ":"+want {
				t.Fatalf("AppendString(cap %d, %q)\ngot  %s\nwant :%s", c, s, got, want)
			}
		}
	}
}

// Bytes beyond the capacity must not change.
func TestStringStaysWithinCapacity(t *testing.T) {
	texts := []string{"", "a", "abcdefg", "abcdefghi", strings.Repeat("a\n中é", 10), strings.Repeat("\x01", 9)}
	for n := range 40 {
		texts = append(texts, strings.Repeat("x", n), strings.Repeat("x", n)+"\n", strings.Repeat("é", n))
	}
	functions := []func(dst []byte, s string) []byte{
		AppendString,
		AppendKey,
		func(dst []byte, s string) []byte { return AppendKeyString(dst, s, s) },
		func(dst []byte, s string) []byte { return AppendKeyInt(dst, s, math.MinInt64) },
		func(dst []byte, s string) []byte { return AppendKeyUint(dst, s, math.MaxUint64) },
	}
	for _, s := range texts {
		for i, f := range functions {
			want := string(f(nil, s))
			for c := range 120 {
				back := []byte(strings.Repeat("#", 200))
				if got := string(f(back[:0:c], s)); got != want {
					t.Fatalf("function %d (cap %d, %q)\ngot  %s\nwant %s", i, c, s, got, want)
				}
				if rest := string(back[c:]); rest != strings.Repeat("#", 200-c) {
					t.Fatalf("function %d (cap %d, %q) wrote behind the capacity: %s", i, c, s, rest)
				}
			}
		}
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\nb", "日本語", "🙂\xff", "\u2028\ufeff", strings.Repeat("aé\"", 20)} {
		f.Add(s, s, 0)
	}
	f.Fuzz(func(t *testing.T, key, val string, room int) {
		dst := append(make([]byte, 0, 1+room&0xff), '{')
		got := AppendKeyString(dst, key, val)
		if want := "{," + quote(key) + ":" + quote(val); string(got) != want {
			t.Fatalf("AppendKeyString(%q, %q)\ngot  %s\nwant %s", key, val, got, want)
		}
		got[1] = ' '
		var back map[string]string
		if err := json.Unmarshal(append(got, '}'), &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		// Ranging over runes turns invalid bytes into U+FFFD.
		if got, want := back[string([]rune(key))], string([]rune(val)); got != want {
			t.Fatalf("decoded %q, want %q", got, want)
		}
	})
}
