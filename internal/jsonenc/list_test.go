// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"strings"
	"testing"
)

func TestStrings(t *testing.T) {
	values := []string{"", "\"", "a\\b", "\xff\xfe", "中文", "\u2028", "tab\tin a longer text", strings.Repeat("é", 20)}
	for n := range 40 {
		values = append(values, strings.Repeat("0123456789", 4)[:n])
	}
	lists := [][]string{nil, {}, values}
	for i := range values {
		lists = append(lists, values[i:i+1], values[i:min(i+3, len(values))])
	}
	for _, list := range lists {
		var quoted []string
		for _, s := range list {
			quoted = append(quoted, quote(s))
		}
		for _, dst := range destinations() {
			want := string(dst) + "[" + strings.Join(quoted, ",") + "]"
			if got := string(AppendStrings(dst, list)); got != want {
				t.Errorf("AppendStrings(%q, %q)\ngot  %s\nwant %s", dst, list, got, want)
			}
		}
	}
}

func TestPreparedTextWithBool(t *testing.T) {
	for _, s := range preparedTexts() {
		text := MakeText(s)
		for _, dst := range destinations() {
			for v, want := range map[bool]string{true: "true", false: "false"} {
				if got, want := string(AppendTextBool(dst, &text, v)), string(dst)+s+want; got != want {
					t.Errorf("AppendTextBool(%q, %q, %v) = %s, want %s", dst, s, v, got, want)
				}
			}
		}
	}
}

func TestNoAllocationsWithPreparedTexts(t *testing.T) {
	dst := make([]byte, 0, 1024)
	text, name := MakeText(`,"key":`), MakeText(`,"key":"`)
	list := []string{"a", "longer than sixteen bytes", "\n"}
	for what, f := range map[string]func(){
		"text": func() { AppendText(dst, &text) }, "string": func() { AppendTextString(dst, &name, list[1]) },
		"int": func() { AppendTextInt(dst, &text, -12345) }, "float": func() { AppendTextFloat64(dst, &text, 12.75) },
		"bool": func() { AppendTextBool(dst, &text, true) }, "strings": func() { AppendStrings(dst, list) },
		"short float": func() { AppendShortFloat64(dst, 0.5) }, "micros": func() { AppendMicros(dst, 1500) },
	} {
		if n := mallocs(f); n != 0 {
			t.Errorf("%s: got %d mallocs in 1000 calls, want none", what, n)
		}
	}
}
