// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/sink/file"
)

var hour = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// writeLog writes a log of lineindex.Least bytes, which has been finished for
// an hour.
func writeLog(t *testing.T, path string) (lines int) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s, err := file.Open(path, file.Config{Buffer: 64 << 10})
	must.Succeed(t, err)
	at := hour
	log := nib.NewSink(s, nib.WithClock(func() time.Time { return at }))
	pad := strings.Repeat("x", 900)
	for ; lines*len(pad) < lineindex.Least; lines++ {
		at = hour.Add(time.Duration(lines) * 100 * time.Millisecond)
		log.Info().Str("pad", pad).Msgf("m%d", lines)
	}
	past := time.Now().Add(-time.Hour)
	must.Succeed(t, errors.Join(s.Close(), os.Chtimes(path, past, past)))
	return lines
}

func between(from, to time.Duration) url.Values {
	return url.Values{"from": {fmt.Sprint(hour.Add(from).UnixMilli())}, "to": {fmt.Sprint(hour.Add(to).UnixMilli())}}
}

// messagesBetween returns the messages of all rows of a range of time, when the
// index is complete.
func (s *server) messagesBetween(from, to time.Duration) string {
	s.Helper()
	values := between(from, to)
	st := s.until(s.stream(values), func(_ string, st status) bool { return st.Done && st.Scanned == st.Size })
	values.Set("row", fmt.Sprint(st.Low))
	values.Set("n", "500")
	var r rows
	if code := s.get("api/rows", values, &r); code != http.StatusOK {
		s.Fatalf("got status %d", code)
	}
	var list []string
	for _, row := range r.Rows {
		list = append(list, row.Message)
	}
	return strings.Join(list, " ")
}

func numbers(from, to int) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("m%d", i))
	}
	return strings.Join(list, " ")
}

// A range of time is read without the rest of the file. The test changes lines
// within a block, so that they would be in the range, too.
func TestARangeOfTimeIsReadWithTheIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	lines := writeLog(t, path)
	text, err := os.ReadFile(path)
	must.Succeed(t, err)
	info, err := os.Stat(path)
	must.Succeed(t, err)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must.Succeed(t, err)
	x, err := lineindex.Open(t.Context(), lineindex.DefaultDir(), f)
	must.Succeed(t, err)
	minute5 := hour.Add(5 * time.Minute)
	ranges, _ := x.Ranges(lineindex.Window{Since: minute5, Until: minute5.Add(1)})
	at := ranges[0].From + 4096
	changed := bytes.ReplaceAll(text[at:at+100_000], []byte("T09:0"), []byte("T09:2"))
	if _, err := f.WriteAt(changed, at); err != nil || bytes.Equal(changed, text[at:at+100_000]) {
		t.Fatalf("%v; the text has not been changed: %.100s", err, changed)
	}
	must.Succeed(t, f.Close())
	must.Succeed(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	s := serve(t, path)
	if got, want := s.messagesBetween(20*time.Minute, 20*time.Minute+30*time.Second), numbers(12000, 12300); got != want {
		t.Errorf("got %d bytes, want %d: %.300s", len(got), len(want), got)
	}
	if got := s.messagesBetween(-time.Hour, 10*time.Second); got != numbers(0, 100) {
		t.Errorf("at the beginning: got %.300s", got)
	}
	end := time.Duration(lines) * 100 * time.Millisecond
	if got := s.messagesBetween(end-10*time.Second, end+time.Hour); got != numbers(lines-100, lines) {
		t.Errorf("at the end: got %.300s", got)
	}
	if got := s.messagesBetween(time.Hour, 2*time.Hour); got != "" {
		t.Errorf("after the end: got %.300s", got)
	}
}

// When the page has all lines, a range of time needs only its own part of the
// file.
func TestARangeOfTimeIsReadWithTheLinesOfThePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	writeLog(t, path)
	s := serve(t, path)
	s.indexed("")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must.Succeed(t, err)
	_, err = f.WriteAt([]byte(`{"time":"2026-11-22T09:20:01Z","level":"info","message":"changed"}`+"\n"), 0)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	if got, want := s.messagesBetween(20*time.Minute, 20*time.Minute+30*time.Second), numbers(12000, 12300); got != want {
		t.Errorf("got %d bytes, want %d: %.300s", len(got), len(want), got)
	}
	var row struct {
		Row   int64
		Found bool
	}
	values := between(20*time.Minute, 20*time.Minute+30*time.Second)
	values.Set("at", "1000") // in the part that is not read
	if s.get("api/row", values, &row); !row.Found || row.Row != -300 {
		t.Errorf("got row %+v, want the first one behind the offset", row)
	}
}
