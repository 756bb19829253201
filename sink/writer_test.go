// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"errors"
	"io"
	"log"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

// Each line of a Write is a record, as it is.
func TestWriterKeepsLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for text, want := range map[string][]string{
		"":                       nil,
		"{\"a\":1}\n":            {"{\"a\":1}\n"},
		"{\"a\":1}":              {"{\"a\":1}\n"},
		"one\ntwo\n":             {"one\n", "two\n"},
		"one\ntwo":               {"one\n", "two\n"},
		"\n\n":                   {"\n", "\n"},
		"{\"cut\":\"of":          {"{\"cut\":\"of\n"},
		long:                     {long + "\n"},
		"a\n" + long + "\nb":     {"a\n", long + "\n", "b\n"},
		"carriage\r\nreturn\x00": {"carriage\r\n", "return\x00\n"},
	} {
		var rec recordtest.Recorder
		n, err := io.WriteString(sink.NewWriter(&rec, sink.WriterConfig{}), text)
		var got []string
		for _, r := range rec.Records() {
			got = append(got, string(r.Line))
			if r.Time == 0 {
				t.Errorf("%.20q: the record has no time", text)
			}
		}
		if !slices.Equal(got, want) || n != len(text) || err != nil {
			t.Errorf("%.20q: got %.50q, %d and %v", text, got, n, err)
		}
	}
}

// The level of a line is the one it shows, in the forms of other loggers.
func TestWriterFindsLevels(t *testing.T) {
	for line, want := range map[string]nib.Level{
		`{"level":"error","ts":1,"msg":"zap"}`:                     nib.LevelError,
		`{"level":"warn","message":"zerolog"}`:                     nib.LevelWarn,
		`{"time":"2026-11-27T00:00:00Z","level":"DEBUG","msg":""}`: nib.LevelDebug,
		`time=2026-11-27T00:00:00Z level=ERROR msg=slog`:           nib.LevelError,
		`time="2026-11-27T00:00:00Z" level=warning msg=logrus`:     nib.LevelWarn,
		`2026/11/27 00:00:00 package log`:                          nib.LevelInfo,
		`2026-11-27 00:00:00 ERROR text`:                           nib.LevelError,
		``:                                                         nib.LevelInfo,
		`{"level":"loud"}`:                                         nib.LevelInfo,
		`{"level":"ERROR+4","msg":"slog"}`:                         nib.LevelPanic,
		`{"time":"","level":"error","message":"nib"}`:              nib.LevelError,
		`{"time":"\",\"level\":\"error","level":"warn"}`:           nib.LevelWarn,
		`{"time":"","a":1,"level":"debug"}`:                        nib.LevelDebug,
		`{"level":"warning","msg":"logrus"`:                        nib.LevelWarn,
		`{"level":"error`:                                          nib.LevelInfo,
	} {
		var rec recordtest.Recorder
		w := sink.NewWriter(&rec, sink.WriterConfig{})
		_, _ = io.WriteString(w, `{"level":"fatal"}`+"\n") // has no effect on the next line
		_, _ = io.WriteString(w, line+"\n")
		if got := rec.Records()[1].Level; got != want {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
	}
	var rec recordtest.Recorder
	loud := func(line []byte) nib.Level { return nib.Level(len(line)) }
	_, _ = io.WriteString(sink.NewWriter(&rec, sink.WriterConfig{Level: loud}), "1234\n12")
	if a, b := rec.Records()[0].Level, rec.Records()[1].Level; a != 5 || b != 3 {
		t.Errorf("got levels %d and %d of the function, want 5 and 3", a, b)
	}
}

// A refused line does not take the others with it. The logger gets no error,
// which it would print.
func TestWriterReportsErrors(t *testing.T) {
	var rec recordtest.Recorder
	rec.WriteWith(func(r *nib.Record) error {
		if r.Line[0] == '!' {
			return errors.New(string(r.Line[:2]))
		}
		return nil
	})
	var reported []string
	report := func(err error) { reported = append(reported, err.Error()) }
	const text = "ok\n!1\nok\n!2\n"
	n, err := io.WriteString(sink.NewWriter(&rec, sink.WriterConfig{OnError: report}), text)
	want := []string{"!1", "!2"}
	if n != len(text) || err != nil || rec.Len() != 2 || !slices.Equal(reported, want) {
		t.Errorf("got %d, %v, %d lines and the errors %q", n, err, rec.Len(), reported)
	}
}

func TestLoggersWriteThroughAWriter(t *testing.T) {
	var rec recordtest.Recorder
	w := sink.NewWriter(&rec, sink.WriterConfig{})
	var group sync.WaitGroup
	const each = 100
	for _, write := range []func(){
		func() { log.New(w, "", 0).Print("package log") },
		func() { slog.New(slog.NewJSONHandler(w, nil)).Error("slog") },
		func() { slog.New(slog.NewTextHandler(w, nil)).Warn("slog text") },
	} {
		group.Add(1)
		go func() {
			defer group.Done()
			for range each {
				write()
			}
		}()
	}
	group.Wait()
	count := map[nib.Level]int{}
	for _, r := range rec.Records() {
		count[r.Level]++
	}
	want := map[nib.Level]int{nib.LevelInfo: each, nib.LevelError: each, nib.LevelWarn: each}
	if !maps.Equal(count, want) {
		t.Errorf("got %v", count)
	}
	if err := w.Sync(); err != nil || rec.Flushes() != 1 {
		t.Errorf("Sync: got %v and %d flushes", err, rec.Flushes())
	}
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w := sink.NewWriter(sink.Discard(), sink.WriterConfig{})
	lines := []byte(`{"level":"info","ts":1764201600,"msg":"m","a":1}` + "\nlevel=warn msg=m\ntext")
	alloctest.Zero(t, func() { _, _ = w.Write(lines) })
}

func ExampleNewWriter() {
	out := nib.WriterSink(os.Stdout) // or file.Open, spool.Open, stdout.New
	w := sink.NewWriter(out, sink.WriterConfig{})
	l := log.New(w, "", 0)
	l.Print("ready")
	// Output: ready
}
