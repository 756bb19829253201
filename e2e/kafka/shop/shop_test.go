// SPDX-License-Identifier: Apache-2.0

//go:build linux

package shop_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lines into the README of the example")

// A want is a test's expectation of a line.
type want struct {
	level, logger, message string
	site                   string // file, and text on the line of the call site; "" for an event, which has none
}

// The ids are those in the README.
const (
	orderTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	failedTrace = "0af7651916cd43dd8448eb211c80319c"
)

func TestRequestIsFollowedByItsTraceID(t *testing.T) {
	b := newBed(t, true)
	s := b.start(t)
	if status, body, err := b.order(orderTrace, "pen", "2"); status != 200 || body != "left: 999998\n" || err != nil {
		t.Fatalf("got status %d, %q and error %v", status, body, err)
	}
	b.db.Kill()
	if status, body, err := b.order(failedTrace, "pen", "1"); status != 503 || body != "try again later\n" || err != nil {
		t.Fatalf("without the database got status %d, %q and error %v", status, body, err)
	}
	must(t, b.db.Start())
	if status, _, err := b.order("c0ffee00000000000000000000000000", "ink", "2"); status != 409 || err != nil {
		t.Errorf("with the database again got status %d and error %v", status, err)
	}
	s.stop(t)
	b.traces.Stop()

	ordered := b.grep(t, orderTrace)
	check(t, ordered, []want{
		{"info", "edge.tax", "tax added", `tax/tax.go log.Info("tax added"`},
		{"info", "edge.payment", "payment authorized", `payment/payment.go c.log.Info("payment authorized"`},
		{"info", "stock.db", "query", "store.go s.QueryRow("},
		{"info", "stock", "reserved", `stock.go Msg("reserved")`},
		{"info", "stock", "rpc", ""},
		{"info", "edge", "client rpc", ""},
		{"info", "edge", "request", ""},
	})
	failed := b.grep(t, failedTrace)
	check(t, failed, []want{
		{"info", "edge.tax", "tax added", `tax/tax.go log.Info("tax added"`},
		{"info", "edge.payment", "payment authorized", `payment/payment.go c.log.Info("payment authorized"`},
		{"debug", "stock", "reserving", `stock.go Msg("reserving")`},
		{"error", "stock.db", "query", "store.go s.QueryRow("},
		{"error", "stock", "rpc", ""},
		{"error", "edge", "client rpc", ""},
		{"debug", "edge", "order received", `edge.go Msg("order received")`},
		{"debug", "edge.tax", "rate looked up", `tax/tax.go Info("rate looked up"`},
		{"debug", "edge.payment", "checking limit", `payment/payment.go c.log.Debug("checking limit"`},
		{"error", "edge", "request", ""},
	})
	if db, rpc := failed[3], failed[4]; db.Error == "" || rpc.Cause != db.Error {
		t.Errorf("the event of the RPC has the cause %q, the database %q", rpc.Cause, db.Error)
	}
	checkSpans(t, b.traces.Traces, ordered, failed)
	checkTopic(t, b)
	checkReadme(t, b.dir, ordered, failed)
}

// check compares the lines of one request.
func check(t *testing.T, lines []line, wants []want) {
	t.Helper()
	for i, l := range lines {
		if i >= len(wants) {
			t.Errorf("there is one more line: %s", l.text)
			continue
		}
		w := wants[i]
		if l.Level != w.level || l.Logger != w.logger || l.Message != w.message {
			t.Errorf("line %d: want %s %s %q, got %s", i+1, w.level, w.logger, w.message, l.text)
		}
		if caller := callerAt(t, w.site); l.Caller != caller {
			t.Errorf("line %d: want the caller %q, got %s", i+1, caller, l.text)
		}
		if l.TraceID != lines[0].TraceID || l.RequestID != lines[0].RequestID || l.RequestID == "" || l.SpanID == "" {
			t.Errorf("line %d: want the ids of the request, got %s", i+1, l.text)
		}
		if l.Backtrace != (w.level == "debug") {
			t.Errorf("line %d: backtrace is %v: %s", i+1, l.Backtrace, l.text)
		}
	}
	if len(lines) < len(wants) {
		t.Errorf("got %d lines, want %d", len(lines), len(wants))
	}
}

// callerAt returns the caller field of the only line of a file that has a text.
func callerAt(t *testing.T, site string) string {
	t.Helper()
	name, text, ok := strings.Cut(site, " ")
	if !ok {
		return ""
	}
	file, err := os.ReadFile(filepath.Join(source, name))
	must(t, err)
	at := 0
	for i, l := range strings.Split(string(file), "\n") {
		switch {
		case !strings.Contains(l, text):
		case at != 0:
			t.Fatalf("%s has %q twice", name, text)
		default:
			at = i + 1
		}
	}
	if dir := filepath.Dir(name); dir == "." {
		name = "shop/" + name
	}
	return fmt.Sprintf("%s:%d", name, at)
}

// checkSpans looks up the spans of the lines in those received by the
// Collector.
func checkSpans(t *testing.T, file string, requests ...[]line) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	traces := map[string]string{} // by span
	for batch := range strings.Lines(string(text)) {
		var data struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ TraceID, SpanID string }
				}
			}
		}
		must(t, json.Unmarshal([]byte(batch), &data))
		for _, r := range data.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, span := range s.Spans {
					traces[span.SpanID] = span.TraceID
				}
			}
		}
	}
	for _, lines := range requests {
		spans := map[string]bool{}
		for _, l := range lines {
			spans[l.SpanID] = true
			if traces[l.SpanID] != l.TraceID {
				t.Errorf("the Collector has the span in trace %q: %s", traces[l.SpanID], l.text)
			}
		}
		if len(spans) != 3 { // of the edge, the service and the database
			t.Errorf("the lines have %d spans, want 3", len(spans))
		}
	}
}

// checkTopic compares the lines of the topic with the lines of the file.
func checkTopic(t *testing.T, b *bed) {
	t.Helper()
	file, topic := texts(b.inFile(t)), texts(b.inTopic(t))
	if !slices.Equal(file, topic) {
		t.Errorf("the file has %d lines, the topic %d or others:\n%s", len(file), len(topic), strings.Join(topic, "\n"))
	}
}

func texts(lines []line) (list []string) {
	for _, l := range lines {
		list = append(list, l.text)
	}
	return list
}

// The lines in the README, and the parts that differ from run to run.
var (
	block   = regexp.MustCompile("(?s)(<!-- (ordered|failed) -->\n```json\n)(.*?)(```\n)")
	varying = regexp.MustCompile(`"(time|took|request_id|span_id|remote|peer|error|cause)":("[^"]*"|[0-9.e-]+)`)
)

// checkReadme compares the lines with the README of the example, which has the
// database in its usual place instead of dir.
func checkReadme(t *testing.T, dir string, ordered, failed []line) {
	t.Helper()
	path := filepath.Join(source, "README.md")
	old, err := os.ReadFile(path)
	must(t, err)
	place := regexp.MustCompile(regexp.QuoteMeta(dir) + "/[^/]*")
	text := func(lines []line) string {
		return place.ReplaceAllLiteralString(strings.Join(texts(lines), "\n"), "/run/postgresql") + "\n"
	}
	lines := map[string]string{"ordered": text(ordered), "failed": text(failed)}
	stable := func(s string) string { return varying.ReplaceAllString(s, `"$1":…`) }
	found := 0
	updated := block.ReplaceAllStringFunc(string(old), func(s string) string {
		found++
		part := block.FindStringSubmatch(s)
		got := lines[part[2]]
		if !*update && stable(part[3]) != stable(got) {
			t.Errorf("README.md has other lines (-update writes these):\n%s", got)
		}
		return part[1] + got + part[4]
	})
	if found != len(lines) {
		t.Errorf("README.md has %d blocks of lines, want %d", found, len(lines))
	}
	if *update {
		must(t, os.WriteFile(path, []byte(updated), 0o644))
	}
}
