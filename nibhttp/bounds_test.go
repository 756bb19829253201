// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibhttp"
)

// maxText is how many bytes of a text are written.
const maxText = 4 << 10

// bounded returns a text of valid UTF-8 as a line shows it.
func bounded(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for !utf8.ValidString(s[:n]) {
		n--
	}
	return s[:n] + "…"
}

// big returns a request with the given text in all places.
func big(text string) *http.Request {
	r := newRequest("/")
	r.Method, r.URL, r.RemoteAddr = text, &url.URL{Path: "/" + text, RawQuery: text}, text
	for _, h := range []string{"X-Request-Id", "User-Agent", "Traceparent", "Referer"} {
		r.Header.Set(h, text)
	}
	return r
}

func TestAClientDecidesNoSize(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 900_000), strings.Repeat("ä", 450_001), "x" + strings.Repeat("🙂", 200_000), strings.Repeat("\x80", 100_000)} {
		for name, h := range map[string]http.HandlerFunc{
			"served":   func(_ http.ResponseWriter, r *http.Request) { nib.FromContext(r.Context()).Info().Msg("inside") },
			"panicked": func(http.ResponseWriter, *http.Request) { panic(text) },
			"error":    func(http.ResponseWriter, *http.Request) { panic(errors.New(text)) },
		} {
			g := newRig(h)
			func() {
				defer func() { _ = recover() }()
				g.do(big(text))
			}()
			for _, r := range g.rec.Records() {
				f := wantHarmless(t, r)
				if len(r.Line) > 64<<10 {
					t.Errorf("%s: a line of %d bytes", name, len(r.Line))
				}
				for _, key := range []string{"method", "path", "remote", "panic"} {
					s, ok := f[key].(string)
					if !ok {
						continue
					}
					full := text
					if key == "path" {
						full = "/" + text
					}
					if !strings.HasSuffix(s, "…") || utf8.ValidString(text) && s != bounded(full) {
						t.Errorf("%s: %s is %.20q…%.20q", name, key, s, s[max(0, len(s)-20):])
					}
					if got, ok := f[key+"_length"]; !ok || fmt.Sprint(got) != fmt.Sprint(len(full)) {
						t.Errorf("%s: %s_length is %v, want %d", name, key, got, len(full))
					}
				}
			}
		}
	}
}

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, tt := range []struct {
		room       int // for the end of the path
		path, want string
		cut        int // length of the path if it is cut
	}{
		{5, "/abcd", "/abcd", 0},
		{5, "/abcde", "/abcd…", 6},
		{5, "/aäöü", "/aä…", 8},
		{4, "/🙂🙂", "/…", 9},
		{1, "/abc", "/…", 4},
		{2, "/\x80\x80\x80", "…", 4},
		{6, "/" + strings.Repeat("\x80", 7), "/\ufffd…", 8},
	} {
		front := strings.Repeat("a", maxText-tt.room)
		g := newRig(func(http.ResponseWriter, *http.Request) {})
		r := newRequest("/")
		r.URL = &url.URL{Path: front + tt.path}
		g.do(r)
		f := wantHarmless(t, g.rec.Records()[0])
		var length any
		if tt.cut > 0 {
			length = float64(len(front) + tt.cut)
		}
		if path, _ := f["path"].(string); path != front+tt.want || f["path_length"] != length {
			end := path[min(len(front), len(path)):]
			t.Errorf("%q with room for %d: got %q, %v, want %q, %v",
				tt.path, tt.room, end, f["path_length"], tt.want, length)
		}
	}
}

// Functions of a Config are code of the program: a request must not fail
// because one of them panics.
func TestFunctionsOfAConfigMayPanic(t *testing.T) {
	for name, config := range map[string]nibhttp.Config{
		"Level":  {Level: func(int) nib.Level { panic("boom") }},
		"Skip":   {Skip: func(*http.Request) bool { panic("boom") }},
		"Fields": {Fields: func(*nib.Event, *http.Request) { panic("boom") }},
		"Now":    {Now: func() time.Time { panic("boom") }},
	} {
		g := newRig(func(w http.ResponseWriter, r *http.Request) {
			nib.FromContext(r.Context()).Info().Msg("inside")
			w.WriteHeader(http.StatusTeapot)
		}, config)
		if got := g.do(newRequest("/")).Code; got != http.StatusTeapot {
			t.Errorf("%s: status %d, want 418", name, got)
		}
		all := g.rec.Records()
		if n := len(all); n == 0 || !strings.Contains(string(all[n-1].Line), `"status":418`) || n > 2 {
			t.Errorf("%s: got %d lines, %v", name, n, all)
		}
		for _, r := range all {
			wantHarmless(t, r)
		}
	}
}

// TestPanicsOfAConfigAreBounded has functions that panic with text from a
// client.
func TestPanicsOfAConfigAreBounded(t *testing.T) {
	text := strings.Repeat("a", 900_000)
	for name, config := range map[string]nibhttp.Config{
		"Skip":   {Skip: func(r *http.Request) bool { panic(r.URL.Path) }},
		"Fields": {Fields: func(_ *nib.Event, r *http.Request) { panic(r.URL.Path) }},
	} {
		g := newRig(func(http.ResponseWriter, *http.Request) {}, config)
		g.do(big(text))
		for _, r := range g.rec.Records() {
			if wantHarmless(t, r)["panic"] == nil || len(r.Line) > 64<<10 {
				t.Errorf("%s: a line of %d bytes: %.100s", name, len(r.Line), r.Line)
			}
		}
	}
}

func TestRulesAreBounded(t *testing.T) {
	rules, err := nib.ParseRules("warn")
	must.Succeed(t, err)
	h := nibhttp.RulesHandler(rules)
	put := func(target, body string) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("PUT", target, strings.NewReader(body)))
		return w.Code
	}
	for i := range 2000 {
		code := put(fmt.Sprintf("/?logger=l%d", i), "debug")
		if want := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[i < 999]; code != want {
			t.Fatalf("rule %d: status %d, want %d", i+2, code, want)
		}
	}
	if n := strings.Count(rules.String(), ",") + 1; n != 1000 {
		t.Errorf("got %d rules, want 1000", n)
	}
	before := rules.String()
	for name, code := range map[string]int{
		"many":  put("/", "warn"+strings.Repeat(",a=debug", 1000)),
		"large": put("/", "warn,"+strings.Repeat("a", 60<<10)+"=debug,"+strings.Repeat("b", 60<<10)+"=info"),
		"name":  put("/?logger="+strings.Repeat("n", 300), "debug"),
	} {
		if code < 400 || code >= 500 {
			t.Errorf("%s: status %d, want 4xx", name, code)
		}
	}
	if got := rules.String(); got != before {
		t.Errorf("refused rules have changed something: %.100q", got)
	}
	if code := put("/", "info"); code != http.StatusOK {
		t.Errorf("status %d, want 200", code)
	}
}
