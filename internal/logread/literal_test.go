// SPDX-License-Identifier: Apache-2.0

package logread

import "testing"

// An expression that is a literal is searched as text. U+FFFD is none: in an
// expression it also matches bytes that are not UTF-8.
func TestLiteralExpressions(t *testing.T) {
	for source, want := range map[string]struct {
		text         string
		anchored, ok bool
	}{
		"abc": {"abc", false, true}, "^abc": {"abc", true, true}, "ä": {"ä", false, true}, `a\.b`: {"a.b", false, true},
		"\uFFFD": {}, "a\uFFFDb": {}, "^\uFFFD": {}, "\uFFFC": {"\uFFFC", false, true},
		"(?i)abc": {}, "a.c": {}, "abc$": {}, "(": {},
	} {
		text, anchored, ok := literal(source)
		if text != want.text || ok != want.ok || ok && anchored != want.anchored {
			t.Errorf("%q: got %q, %v, %v, want %+v", source, text, anchored, ok, want)
		}
	}
}
