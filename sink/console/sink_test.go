// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/recordtest"
)

var clock = nib.WithClock(func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 678e6, time.UTC) })

func TestALoggersLines(t *testing.T) {
	var out bytes.Buffer
	l := nib.NewSink(New(&out, Config{Color: ColorNever, TimeZone: time.UTC, MessageWidth: 1}), clock, nib.WithLevel(nib.LevelTrace))
	l.Named("db").Info().Int("n", 1).Msg("hello")
	l.Log().Msg("no level")
	l.At(nib.LevelWarn + 1).Err(errors.New("e")).Send()
	want := "15:04:05.678 INFO  db: hello  n=1\n" +
		"15:04:05.678       no level\n" +
		"15:04:05.678 WAR+1 error=e\n"
	if got := out.String(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestTheRecordHelpsWhereTheLineIsNotUnderstood(t *testing.T) {
	layout := nib.Layout{TimeFormat: time.Kitchen, LevelName: func(l nib.Level) string { return "L" + l.String() }}
	var out bytes.Buffer
	s := New(&out, Config{Color: ColorAlways, TimeZone: time.UTC, Layout: layout})
	l := nib.NewSink(s, clock, nib.WithLayout(layout))
	l.At(nib.LevelError + 1).Send()
	want := sgrDim + "15:04:05.678" + sgrReset + " " + sgrErrorTag + "LERR…" + sgrReset + "\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The record of a line that another logger has written has a later time.
func TestTheTimeOfTheRecordIsShown(t *testing.T) {
	layout := nib.Layout{TimeFormat: nib.TimeUnix}
	var out bytes.Buffer
	s := New(&out, Config{Color: ColorNever, TimeZone: time.UTC, Layout: layout})
	for _, tt := range []struct {
		time    int64
		message string
		want    string
	}{
		{1767366245678e6, `,"message":"m"`, "15:04:05.678 INFO  m\n"},
		{0, `,"message":"m"`, "15:04:05.000 INFO  m\n"},
		{1767366299678e6, "", "15:04:05.000 INFO\n"},
	} {
		out.Reset()
		r := nib.Record{
			Time: tt.time, Line: []byte(`{"time":1767366245,"level":"info"` + tt.message + "}\n"),
		}
		if at := bytes.Index(r.Line, []byte(`m"}`)); at >= 0 {
			r.Message = r.Line[at : at+1]
		}
		if err := s.WriteRecord(&r); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != tt.want {
			t.Errorf("Time %d: got %q, want %q", tt.time, got, tt.want)
		}
	}
}

// A countingWriter counts the calls of Write.
type countingWriter struct {
	bytes.Buffer
	writes int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes++
	return w.Buffer.Write(p)
}

// Times that do not show their zone are in the layout's zone.
func TestZoneOfALayoutWithoutOne(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = time.FixedZone("", -5*3600)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for name, layout := range map[string]nib.Layout{
		"default":  {TimeFormat: time.DateTime},
		"TimeZone": {TimeFormat: time.DateTime, TimeZone: time.FixedZone("", 9*3600)},
		"KeepZone": {TimeFormat: time.DateTime, KeepZone: true},
		"both":     {TimeFormat: time.DateTime, KeepZone: true, TimeZone: time.FixedZone("", 9*3600)},
	} {
		var b bytes.Buffer
		l := nib.NewSink(New(&b, Config{Layout: layout}), nib.WithLayout(layout), nib.WithClock(func() time.Time { return at }))
		l.Info().Msg("m")
		if got, want := b.String(), "03:04:05.000 INFO  m\n"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestALineAndItsBlocksAreOneWrite(t *testing.T) {
	var w countingWriter
	s := New(&w, Config{})
	if err := s.WriteRecord(&nib.Record{Line: []byte(`{"stack":"a\nb\nc","message":"m"}` + "\n")}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.String(), "\n"); w.writes != 1 || n != 4 {
		t.Errorf("%d lines in %d writes, want 4 in 1", n, w.writes)
	}
}

func TestErrorsOfTheWriterComeBack(t *testing.T) {
	want := errors.New("full")
	r, w := io.Pipe()
	_ = r.CloseWithError(want)
	s := New(w, Config{})
	if err := s.WriteRecord(&nib.Record{Line: []byte("{}\n")}); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// A writerAndSink must be used as a writer: its WriteRecord is for JSON lines.
type writerAndSink struct {
	bytes.Buffer
	recordtest.Recorder
}

func TestAWriterThatIsASinkIsUsedAsAWriter(t *testing.T) {
	w := new(writerAndSink)
	s := New(w, Config{Color: ColorNever})
	if err := s.WriteRecord(&nib.Record{Line: []byte(`{"message":"m"}` + "\n")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(t.Context()); err != nil || w.Flushes() != 1 {
		t.Errorf("flushed %d times, error %v, want 1, nil", w.Flushes(), err)
	}
	if got := strings.TrimSpace(w.String()); got != "m" || w.Recorder.Len() != 0 {
		t.Errorf("wrote %q and the records %q, want m and none", got, w.Lines())
	}
}

func TestFlushEmptiesABufferedWriter(t *testing.T) {
	var out bytes.Buffer
	l := nib.NewSink(New(bufio.NewWriter(&out), Config{}))
	l.Info().Msg("m")
	if out.Len() > 0 {
		t.Fatal("not buffered")
	}
	if err := l.Flush(t.Context()); err != nil || out.Len() == 0 {
		t.Errorf("%d bytes written, error %v", out.Len(), err)
	}
}

func TestManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, Config{Color: ColorNever, TimeFormat: nib.OmitKey, MessageWidth: -1})
	l := nib.NewSink(s, nib.WithErrorHandler(func(err error) { t.Error(err) }))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				l.Info().Int("i", i).Str("stack", "a\nb").AnErr("error", errors.New("x\ny")).Msg("m")
				_ = s.Render(nil, []byte(`{"message":"other"}`))
			}
		}()
	}
	wg.Wait()
	for i := range 8 {
		want := "INFO  m  i=" + string(rune('0'+i)) + " field.stack=\"a\\nb\"\n    │ error: x\n    │ y\n"
		if n := strings.Count(out.String(), want); n != 100 {
			t.Errorf("goroutine %d: %d whole lines, want 100", i, n)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	lines := demoLines(t)
	lines = append(lines, []byte(`{"time":"noon","level":"backup-start","\u0061":"\ud83c\udf4a","error":"a\nb"}`))
	for name, c := range map[string]Color{"plain": ColorNever, "color": ColorAlways} {
		s := New(discard{}, Config{Color: c})
		t.Run("WriteRecord/"+name, func(t *testing.T) {
			r := &nib.Record{Time: 1, Level: nib.LevelWarn}
			alloctest.Zero(t, func() {
				for _, line := range lines {
					r.Line = line
					_ = s.WriteRecord(r)
				}
			})
		})
		t.Run("Render/"+name, func(t *testing.T) {
			var dst []byte
			alloctest.Zero(t, func() {
				dst = dst[:0]
				for _, line := range lines {
					dst = s.Render(dst, line)
				}
			})
		})
	}
}

// discard is io.Discard without its other methods.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestAHugeLineIsNotKept(t *testing.T) {
	p := &painter{view: plainSink.view}
	line := []byte(`{"message":"` + strings.Repeat("x", 1<<20) + `"}`)
	p.buf = p.line(p.buf[:0], line, nil)
	if len(p.buf) < 1<<20 {
		t.Fatalf("%d bytes shown", len(p.buf))
	}
	if p.src != nil {
		t.Error("the painter holds the bytes of the caller")
	}
	p.release()
	if p.view == nil {
		t.Error("a painter with a huge buffer went back to the pool")
	}
}

func BenchmarkRender(b *testing.B) {
	line := []byte(`{"time":"2026-01-02T15:04:06.120Z","level":"info","logger":"http","method":"GET","path":"/cart","status":200,"took":1.92,"agent":"Mozilla/5.0 (X11; Linux x86_64)","trace":"4bf92f3577b34da6","message":"request served"}` + "\n")
	for name, s := range map[string]*Sink{"plain": plainSink, "color": colorSink} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = s.Render(dst[:0], line)
			}
		})
	}
}

// An Option is used by any number of loggers, whatever the first one is for.
func TestLayoutOptionOfAConsoleCanBeUsedAgain(t *testing.T) {
	var out bytes.Buffer
	o := nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey, MessageKey: nib.OmitKey})
	nib.NewSink(New(io.Discard, Config{}), o)
	nib.New(&out, o).Info().Dur("d", 1500*time.Microsecond).Send()
	if got, want := out.String(), "{\"d\":1.5}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The function of a layout may know only some levels.
func TestLevelNameMayPanic(t *testing.T) {
	names := []string{"INF", "WRN", "ERR"}
	layout := nib.Layout{LevelName: func(l nib.Level) string { return names[l/nib.LevelWarn] }}
	var b bytes.Buffer
	l := nib.NewSink(New(&b, Config{Color: ColorNever, TimeFormat: nib.OmitKey, Layout: layout}), nib.WithLayout(layout), nib.WithLevel(nib.LevelTrace))
	l.Warn().Msg("named")
	l.Trace().Msg("unnamed")
	if got, want := b.String(), "WRN   named\nTRACE unnamed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
