// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/seed"
)

// checkRedact compares line, decoded, with the result of Redact.
func checkRedact(t *testing.T, line []byte) {
	t.Helper()
	got := redact(nil, line, testKeys)
	if !utf8.Valid(got) {
		t.Fatalf("Redact(%q) is not UTF-8: %q", line, got)
	}
	if why := compareRedacted(decode(t, line), decode(t, got)); why != "" {
		t.Fatalf("%s\nin  %s\ngot %s", why, line, got)
	}
	again := redact([]byte("x"), got, testKeys)[1:]
	if string(again) == string(got) {
		return
	}
	// A mask may have replaced the character that ended the user and password of
	// a URL: then another pass masks more, up to the next @, and a third nothing.
	url := strings.Contains(string(got), "://") && len(again) < len(got)
	if third := redact(nil, again, testKeys); !url || string(third) != string(again) {
		t.Fatalf("not idempotent\nin    %s\nonce  %s\ntwice %s\nthird %s", line, got, again, third)
	}
}

// compareRedacted returns the first fault of got, or "".
func compareRedacted(src, got any) string {
	switch src := src.(type) {
	case object:
		got, ok := got.(object)
		if !ok || len(got) != len(src) {
			return "an object has changed"
		}
		for i := range src {
			if got[i].key != src[i].key {
				return "a key has changed: " + src[i].key
			}
			if testKeys.has([]byte(src[i].key)) {
				if got[i].value != contract.SecretText {
					return "a value is shown: " + src[i].key
				}
			} else if why := compareRedacted(src[i].value, got[i].value); why != "" {
				return why
			}
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(src) {
			return "an array has changed"
		}
		for i := range src {
			if why := compareRedacted(src[i], got[i]); why != "" {
				return why
			}
		}
	case string:
		got, ok := got.(string)
		if !ok || !isMasked(src, got) {
			return "a string has changed otherwise: " + src
		}
	default:
		if !reflect.DeepEqual(got, src) {
			return "a value has changed"
		}
	}
	return ""
}

// isMasked reports whether got can be src with masks in it, quoted or not, each
// behind a separator.
func isMasked(src, got string) bool {
	if !strings.Contains(got, contract.SecretText) {
		return got == src
	}
	if !strings.ContainsAny(src, ":=：＝") && !strings.Contains(strings.ToLower(src), `\u003`) {
		return got == src
	}
	pieces := strings.Split(got, contract.SecretText)
	for i, piece := range pieces {
		if i > 0 {
			piece = strings.TrimLeft(piece, `"\`)
		}
		if i < len(pieces)-1 {
			piece = strings.TrimRight(piece, `"\`)
		}
		at := strings.Index(src, piece)
		if i == len(pieces)-1 {
			at = strings.LastIndex(src, piece)
		}
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		src = src[at+len(piece):]
	}
	return true
}

func TestRedactSeeds(t *testing.T) {
	for _, line := range lineSeeds {
		if line = compactObject(line); line != nil {
			checkRedact(t, line)
		}
	}
}

// Every text with one byte of it replaced by one with a meaning.
func TestRedactTextsWithOneByteChanged(t *testing.T) {
	for _, tt := range textTests {
		for i := range tt.in {
			for _, c := range "\"'\\:=/@,&{]( \n#ab" {
				checkRedact(t, inLine(tt.in[:i]+string(c)+tt.in[i+1:]))
			}
		}
	}
}

// tokens are the parts of texts with secrets.
var tokens = []string{
	"password", "Token", "cookie", "Authorization: ", "credit card", `a"b`, "-p", "Bearer ", "digest ", "b'", "x", "y z", "12", "中", "密码", "：", "，", "”", "***",
	":", "=", "=>", ": ", " = ", "://", "@", "/", "?", "#", "&", ",", ";", " ", "\n", "\r\n", "\t", "\x01", "%5D", "%5B",
	`"`, `"`, `invalid port "`, `\"`, `\\\"`, "'", "`", `\`, `\\`, `\n`, `\u0061`, `p\u0061ssword`, `\u003d`, `\u003E`, `\/`, "(", ")", "[", "]", "{", "}", "<", ">", "&{",
}

func TestRedactRandomTexts(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 5_000
	}
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range n {
		var text strings.Builder
		for range 1 + r.IntN(16) {
			text.WriteString(tokens[r.IntN(len(tokens))])
		}
		checkRedact(t, inLine(text.String()))
	}
}

func FuzzRedact(f *testing.F) {
	for _, line := range lineSeeds {
		f.Add(line)
	}
	f.Add([]byte(`{"a":1"}`)) // no end of a number
	f.Fuzz(func(t *testing.T, src []byte) {
		redact(nil, src, testKeys) // must not panic
		if line := compactObject(src); line != nil {
			checkRedact(t, line)
		}
		checkRedact(t, inLine(string(src)))
		checkRedact(t, inLine(string(inLine(string(src)))))
	})
}
