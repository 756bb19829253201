// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/nibtest"
)

// counts is a Counter.
type counts func(visit func(name, help string, value uint64, labels ...string))

func (c counts) Counters(visit func(name, help string, value uint64, labels ...string)) { c(visit) }

func failedOnce() *nib.Logger {
	var rec nibtest.Recorder
	log := nib.NewSink(&rec, nib.WithErrorHandler(func(error) {}))
	rec.FailWith(errors.New("full"))
	log.Info().Msg("lost")
	return log
}

func TestMetricsHandler(t *testing.T) {
	w := ask(nibhttp.MetricsHandler(failedOnce()), "GET", "/metrics", "")
	got := w.Body.String()
	for _, want := range []string{
		"# HELP nib_lines_failed_total ", "# TYPE nib_lines_failed_total counter\nnib_lines_failed_total 1\n",
		"\nnib_lines_reentrant_total 0\n", "\nnib_lines_aborted_total 0\n", "\nnib_events_misused_total ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if typ := w.Header().Get("Content-Type"); typ != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("Content-Type: got %q", typ)
	}
	if w := ask(nibhttp.MetricsHandler(nil), "POST", "/metrics", ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestMetricsOfCounters(t *testing.T) {
	first := counts(func(visit func(string, string, uint64, ...string)) {
		visit("x_lines_total", "Lines.\nA \\ and a \"quote\".", 1, "level", "info", "branch", "0")
		visit("x_pending", "Pending.", 7)
		visit("x_lines_total", "not shown", 2, "level", "warn", "branch", "0")
	})
	second := counts(func(visit func(string, string, uint64, ...string)) {
		visit("x_lines_total", "", 3, "branch", "0", "level", "info") // the same as the first
		visit("x_lines_total", "", 4, "level", "a\\b\"c\nd\xff")
		visit("9 lives", "Odd.", 18446744073709551615, "0-k:", "v", "left over")
	})
	var b strings.Builder
	if err := nibhttp.WriteMetrics(&b, nib.Stats{}, first, nil, second); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "nib_events_misused_total 0\n")
	want := `# HELP x_lines_total Lines.\nA \\ and a "quote".
# TYPE x_lines_total counter
x_lines_total{branch="0",level="info"} 4
x_lines_total{branch="0",level="warn"} 2
x_lines_total{level="a\\b\"c\nd` + "\uFFFD" + `"} 4
# HELP x_pending Pending.
# TYPE x_pending gauge
x_pending 7
# HELP _9_lives Odd.
# TYPE _9_lives gauge
_9_lives{_0_k_="v"} 18446744073709551615
`
	if got != want {
		t.Errorf("text:\n got %s\nwant %s", got, want)
	}
	wantExposition(t, b.String())
}

func TestMetricsAsOpenMetrics(t *testing.T) {
	c := counts(func(visit func(string, string, uint64, ...string)) {
		visit("x_lines_total", "A \"quote\".", 1)
		visit("x_pending", "Pending.", 7)
	})
	h := nibhttp.MetricsHandler(nil, c)
	w := ask(h, "GET", "/metrics", "", "Accept", "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5")
	_, got, _ := strings.Cut(w.Body.String(), "nib_events_misused_total 0\n")
	want := `# HELP x_lines A \"quote\".
# TYPE x_lines counter
x_lines_total 1
# HELP x_pending Pending.
# TYPE x_pending gauge
x_pending 7
# EOF
`
	if got != want {
		t.Errorf("text:\n got %s\nwant %s", got, want)
	}
	if typ := w.Header().Get("Content-Type"); typ != "application/openmetrics-text; version=1.0.0; charset=utf-8" {
		t.Errorf("Content-Type: got %q", typ)
	}
	w = ask(h, "GET", "/metrics", "", "Accept", "application/openmetrics-text;q=0, text/plain")
	if strings.Contains(w.Body.String(), "# EOF") {
		t.Error("OpenMetrics was refused by the client and sent")
	}
}

// Whatever a Counter shows, the text has the form that the format asks for.
func FuzzMetrics(f *testing.F) {
	f.Add("x_total", "help", "k", "v")
	f.Add("", "\n", "", "\"\\\n\r\x00")
	f.Add("é", "\\", "1", "\xff")
	f.Fuzz(func(t *testing.T, name, help, key, value string) {
		var b strings.Builder
		c := counts(func(visit func(string, string, uint64, ...string)) {
			visit(name, help, 1, key, value)
			visit(name, help, 1, key, value)
			visit(name+"x", help, 2, key, value, key)
		})
		if err := nibhttp.WriteMetrics(&b, nib.Stats{}, c); err != nil {
			t.Fatal(err)
		}
		wantExposition(t, b.String())
	})
}

var expositionLine = regexp.MustCompile(`^(# HELP [a-zA-Z_:][a-zA-Z0-9_:]* ([^\\]|\\\\|\\n)*|# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge)|` +
	`([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^\\"]|\\\\|\\"|\\n)*",?)*\})? [0-9]+)$`)

// wantExposition checks text against the grammar of the text format 0.0.4: each
// family has one TYPE, its samples stand together behind it, and no two of them
// have the same labels.
func wantExposition(t *testing.T, text string) {
	t.Helper()
	seen := map[string]bool{}
	family := ""
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		line := in.Text()
		m := expositionLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			t.Errorf("not a line of the format: %q", line)
		case m[3] != "":
			if family = m[3]; seen[family] {
				t.Errorf("two families %s", family)
			}
			seen[family] = true
		case m[5] != "":
			sample := line[:strings.LastIndexByte(line, ' ')]
			if m[5] != family || seen["sample "+sample] {
				t.Errorf("the sample %s is in the family %s, or there twice", sample, family)
			}
			seen["sample "+sample] = true
		}
	}
	if !strings.HasSuffix(text, "\n") || len(seen) == 0 {
		t.Errorf("the text does not end in a newline: %q", text)
	}
}

func ExampleWriteMetrics() {
	c := counts(func(visit func(string, string, uint64, ...string)) {
		visit("app_lines_total", "Lines of the application.", 3, "level", "info")
	})
	var b strings.Builder
	if err := nibhttp.WriteMetrics(&b, nib.Stats{}, c); err != nil {
		panic(err)
	}
	fmt.Print(b.String()[strings.Index(b.String(), "# HELP app"):])
	// Output:
	// # HELP app_lines_total Lines of the application.
	// # TYPE app_lines_total counter
	// app_lines_total{level="info"} 3
}
