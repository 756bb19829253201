// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/logread"
)

// Results of a Line are parts of the line, and queries neither panic nor differ
// between a new Line and a reused one.
func FuzzLine(f *testing.F) {
	f.Add(served, `level >= warn and took > 250ms`)
	f.Add(`a=1 b="2`, `a = 1 or b ~ "^2"`)
	f.Add(`x | {"level":"info"}`, "line contains x")
	f.Add("2026-11-21T12:00:00Z ERROR x", "time > yesterday and level = error")
	for _, c := range loggers {
		for _, e := range envelopes {
			f.Add(e.wrap(c.line), "level >= warn")
			f.Add(e.wrap(e.wrap(e.wrap(e.wrap(e.wrap(c.line))))), "level >= warn")
		}
	}
	used := new(logread.Line)
	f.Fuzz(func(t *testing.T, text, query string) {
		l := read(text)
		used.Reset([]byte(text))
		if !l.IsWrapped() && !bytes.HasSuffix(l.Bytes(), l.Body()) {
			t.Errorf("body %q of %q", l.Body(), text)
		}
		for key, value := range l.Fields() {
			if len(value) == 0 || !bytes.Contains(l.Body(), key) {
				t.Errorf("field %q=%q of %q", key, value, text)
			}
		}
		q, err := logread.ParseQuery(query, noon)
		if err != nil {
			if e := err.(*logread.QueryError); e.Offset < 0 || e.Offset > len(query) || e.Problem == "" {
				t.Errorf("%q: %+v", query, e)
			}
			_, caret := err.(*logread.QueryError).Caret()
			if len(caret) > utf8.RuneCountInString(query)+1 {
				t.Errorf("%q: caret %q", query, caret)
			}
			return
		}
		for range 2 {
			if got, want := q.Match(used), q.Match(l); got != want {
				t.Errorf("%q, %q: got %v, want %v", query, text, got, want)
			}
		}
		_, _ = l.Time()
		_, _ = l.Level()
		_, _, _ = l.Message(), l.Prefix(), l.Host()
	})
}
