// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/cmd/nib/view"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/must"
)

// A server is a running view.
type server struct {
	*testing.T
	file    string
	address string
}

// run serves a file with a text.
func run(t *testing.T, text string) *server {
	t.Helper()
	s := &server{T: t, file: filepath.Join(t.TempDir(), "app.log")}
	s.write(os.O_CREATE, text)
	return serve(t, s.file)
}

// serve serves a file.
func serve(t *testing.T, path string) *server {
	t.Helper()
	return serveKeys(t, path, logread.Keys{})
}

func serveKeys(t *testing.T, path string, keys logread.Keys) *server {
	t.Helper()
	s := &server{T: t, file: path}
	v, err := view.Open(path, path, keys, nil)
	must.Succeed(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	s.address = v.URL(l)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return s
}

func (s *server) write(flags int, text string) {
	s.Helper()
	f, err := os.OpenFile(s.file, os.O_WRONLY|flags, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		s.Fatal(err)
	}
}

// get returns the answer to a request.
func (s *server) get(path string, values url.Values, into any) int {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.address+path+"?"+values.Encode(), nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		s.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode
}

type status struct {
	Session         string
	Low, High       int64
	Scanned, Size   int64
	Done            bool
	Totals          [7]int64
	Problem, Reason string
	Counts          *struct {
		Bars *struct {
			Start, Step int64
			Counts      [][7]int64
		}
		Facets []struct {
			Key    string
			Kinds  int
			Values []struct {
				Text  string
				Lines int64
			}
		}
		FacetLines int64
	}
}

// An event is one of a stream.
type event struct{ name, data string }

// stream returns the events for a query.
func (s *server) stream(values url.Values) <-chan event {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"api/stream?"+values.Encode(), nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	events := make(chan event)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		var e event
		for r := bufio.NewReader(resp.Body); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch name {
			case "event":
				e.name = rest
			case "data":
				e.data = rest
			case "":
				select {
				case events <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	s.Cleanup(cancel)
	return events
}

// until reads events until one is as wanted.
func (s *server) until(events <-chan event, want func(name string, st status) bool) status {
	s.Helper()
	timeout := time.After(2 * time.Minute)
	var last event
	for {
		select {
		case e, ok := <-events:
			if !ok {
				s.Fatalf("the stream has ended; the last event was %v", last)
			}
			var st status
			if e.name == "status" {
				if err := json.Unmarshal([]byte(e.data), &st); err != nil {
					s.Fatal(err)
				}
			}
			if want(e.name, st) {
				return st
			}
			last = e
		case <-timeout:
			s.Fatalf("the last event was %v", last)
		}
	}
}

// indexed waits until a query has been applied to the whole file.
func (s *server) indexed(query string) status {
	s.Helper()
	return s.until(s.stream(url.Values{"q": {query}}), func(_ string, st status) bool { return st.Done && st.Scanned == st.Size && st.Counts != nil })
}

type rows struct {
	Low, High, First int64
	Rows             []struct {
		At, Time int64
		Level    int
		Message  string
		Fields   [][2]string
	}
}

// messages returns the messages of n rows.
func (s *server) messages(query string, row, n int) string {
	s.Helper()
	var r rows
	if code := s.get("api/rows", url.Values{"q": {query}, "row": {fmt.Sprint(row)}, "n": {fmt.Sprint(n)}}, &r); code != http.StatusOK {
		s.Fatalf("got status %d", code)
	}
	var list []string
	for _, row := range r.Rows {
		list = append(list, row.Message)
	}
	return strings.Join(list, " ")
}

// numbered returns lines with the numbers from one to another; every tenth is
// an error, and the times are a second apart.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		level := "info"
		if i%10 == 0 {
			level = "error"
		}
		fmt.Fprintf(&b, `{"time":%q,"level":%q,"message":"m%d","shard":"s%d"}`+"\n", time.Unix(1763800000+int64(i), 0).UTC().Format(time.RFC3339), level, i, i%3)
	}
	return b.String()
}

func TestRowsAreNumberedFromTheEnd(t *testing.T) {
	const n = 20_000 // several blocks
	s := run(t, numbered(0, n))
	if st := s.indexed(""); st.Low != -n || st.High != 0 || st.Totals != [7]int64{3: n * 9 / 10, 5: n / 10} {
		t.Errorf("got %+v", st)
	}
	for _, c := range []struct {
		query  string
		row, n int
		want   string
	}{
		{"", -2, 5, "m19998 m19999"},
		{"", -n, 3, "m0 m1 m2"},
		{"", -n - 1, 3, "m0 m1"}, // the first row of them does not exist
		{"", -n - 3, 3, ""},
		{"", -10_000, 2, "m10000 m10001"},
		{"", 0, 3, ""},
	} {
		if got := s.messages(c.query, c.row, c.n); got != c.want {
			t.Errorf("%q from %d: got %s, want %s", c.query, c.row, got, c.want)
		}
	}
	if r := strings.Fields(s.messages("", -n, n)); len(r) != 500 {
		t.Errorf("got %d rows, want at most 500", len(r))
	}
	// Each page follows the one before without a gap.
	next := 0
	for row := -n; row < 0; row += 500 {
		for _, m := range strings.Fields(s.messages("", row, 500)) {
			if m != fmt.Sprintf("m%d", next) {
				t.Fatalf("got %s, want m%d", m, next)
			}
			next++
		}
	}
	if next != n {
		t.Errorf("got %d rows, want %d", next, n)
	}
}

func TestRowsOfAQuery(t *testing.T) {
	s := run(t, numbered(0, 20_000))
	const query = "level >= error and shard = s1"
	if st := s.indexed(query); st.Low != -667 || st.Totals != [7]int64{5: 667} {
		t.Errorf("got %+v", st)
	}
	if got := s.messages(query, -667, 3); got != "m10 m40 m70" {
		t.Errorf("got %s", got)
	}
	if got := s.messages(query, -2, 5); got != "m19960 m19990" {
		t.Errorf("got %s", got)
	}
}

func TestOwnKeys(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.log")
	text := strings.NewReplacer("time", "when", "level", "sev", "message", "what").
		Replace(numbered(0, 1000))
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
	s := serveKeys(t, name, logread.Keys{Time: "when", Level: "sev", Message: "what"})
	const query = "level >= error and time >= 2025-11-22T08:40:00Z" // from m800 on
	if st := s.indexed(query); st.Low != -20 || st.Totals != [7]int64{5: 20} {
		t.Errorf("got %+v", st)
	}
	if got := s.messages(query, -20, 3); got != "m800 m810 m820" {
		t.Errorf("got %s", got)
	}
}

func TestLinesThatAreAppended(t *testing.T) {
	s := run(t, numbered(0, 10))
	events := s.stream(url.Values{"q": {"level >= error"}})
	s.until(events, func(_ string, st status) bool { return st.Low == -1 && st.Done })
	s.write(os.O_APPEND, numbered(10, 4_000))
	s.until(events, func(_ string, st status) bool { return st.High == 399 && st.Low == -1 })
	if got := s.messages("level >= error", -1, 3); got != "m0 m10 m20" {
		t.Errorf("got %s", got)
	}
	// The rest of a line that was unfinished belongs to it.
	s.write(os.O_APPEND, `{"level":"error","message":`)
	s.write(os.O_APPEND, `"whole"}`+"\n")
	s.until(events, func(_ string, st status) bool { return st.High == 400 })
	if got := s.messages("level >= error", 399, 3); got != "whole" {
		t.Errorf("got %s", got)
	}
}

func TestAFileWithoutALineBreakAtItsEnd(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2, strings.Repeat("a", 3<<20): 1, strings.Repeat("a", 3<<20) + "\nb\n": 2} {
		s := run(t, text)
		if st := s.indexed(""); st.Low != -want || st.High != 0 {
			t.Errorf("%.10q (%d bytes): got rows %d to %d, want %d", text, len(text), st.Low, st.High, want)
		}
	}
}

func TestRotationGoesOnInTheNewFile(t *testing.T) {
	s := run(t, numbered(0, 100))
	events := s.stream(nil)
	s.until(events, func(_ string, st status) bool { return st.Low == -100 })
	s.write(os.O_APPEND, numbered(100, 110)+"unfinished")
	must.Succeed(t, os.Rename(s.file, s.file+".1"))
	s.write(os.O_CREATE, numbered(110, 120))
	s.until(events, func(_ string, st status) bool { return st.High == 21 })
	if got := s.messages("", -1, 30); got != "m99 m100 m101 m102 m103 m104 m105 m106 m107 m108 m109 unfinished m110 m111 m112 m113 m114 m115 m116 m117 m118 m119" {
		t.Errorf("got %s", got)
	}
}

func TestTruncationStartsAgain(t *testing.T) {
	s := run(t, numbered(0, 100))
	events := s.stream(nil)
	st := s.until(events, func(_ string, st status) bool { return st.Low == -100 })
	s.write(os.O_TRUNC, numbered(0, 3))
	s.until(events, func(name string, _ status) bool { return name == "ended" })
	if now := s.indexed(""); now.Low+now.High != -3 && now.High-now.Low != 3 || now.Session == st.Session {
		t.Errorf("got %+v, want 3 lines of another session", now)
	}
}

// A page that is opened later has another now.
func TestTimesOfAQueryAreRelativeToThePage(t *testing.T) {
	s := run(t, "")
	values := url.Values{"q": {"time < -1ms"}, "asked": {"1"}}
	s.until(s.stream(values), func(_ string, st status) bool { return st.Done })
	at := time.Now()
	s.write(os.O_APPEND, fmt.Sprintf(`{"time":%q}`+"\n", at.Format(time.RFC3339Nano)))
	s.until(s.stream(values), func(_ string, st status) bool { return st.Scanned > 0 && st.High == 0 })
	for time.Since(at) <= 2*time.Millisecond {
	}
	values.Set("asked", "2")
	s.until(s.stream(values), func(_ string, st status) bool { return st.High == 1 })
}

func TestErrorsOfAQueryHaveTheirPlace(t *testing.T) {
	s := run(t, "")
	for _, c := range []struct {
		query  string
		offset int
	}{
		{"level >= nonsense", 9},
		{"took >", 6},
		{"ä = '😀' and and", 13}, // in UTF-16 code units
	} {
		var got struct {
			Problem string
			Offset  *int
		}
		if code := s.get("api/rows", url.Values{"q": {c.query}}, &got); code != http.StatusBadRequest || got.Problem == "" || got.Offset == nil || *got.Offset != c.offset {
			t.Errorf("%s: got status %d, %q at %v, want %d", c.query, code, got.Problem, *got.Offset, c.offset)
		}
		e := <-s.stream(url.Values{"q": {c.query}})
		if want := fmt.Sprintf(`"offset":%d}`, c.offset); e.name != "problem" || !strings.HasSuffix(e.data, want) {
			t.Errorf("%s: the stream has %v, want %s", c.query, e, want)
		}
	}
}

func TestBadParameters(t *testing.T) {
	s := run(t, "a\n")
	for _, path := range []string{"api/rows?row=x", "api/rows?from=2&to=1", "api/rows?from=-1", "api/line", "api/line?at=99", "api/line?at=-1", "api/line?at=1", "api/row?at=-1", "api/find?row=x"} {
		resp, err := http.Get(s.address + path)
		must.Succeed(t, err)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if path == "api/line" {
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s: got status %d, want that of the first line", path, resp.StatusCode)
			}
			continue
		}
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "problem") {
			t.Errorf("%s: got status %d: %s", path, resp.StatusCode, text)
		}
	}
}
