// SPDX-License-Identifier: Apache-2.0

package logfmt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/recordtest"
)

var (
	flat  = New(new(bytes.Buffer), Config{})
	whole = New(new(bytes.Buffer), Config{KeepObjects: true})
)

func TestFieldsAreWrittenAs(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"a line of nib's", `{"time":"2026-01-02T15:04:05.000Z","level":"info","n":1,"message":"two words"}`, `time=2026-01-02T15:04:05.000Z level=info n=1 message="two words"`},
		{"nothing", `{}`, ``},
		{"nothing with spaces", "{ } \n", ``},
		{"numbers", `{"a":-1,"b":1.5e300,"c":123456789012345678901234567890}`, `a=-1 b=1.5e300 c=123456789012345678901234567890`},
		{"words", `{"a":true,"b":false,"c":null}`, `a=true b=false c=null`},
		{"text like those", `{"a":"1","b":"-0.5","c":"true","d":"null","e":"01","f":"truer","g":"1.5ms","h":"-"}`, `a="1" b="-0.5" c="true" d="null" e=01 f=truer g=1.5ms h=-`},
		{"no text", `{"a":""}`, `a=""`},
		{"spaces", `{"a":" ","b":"x y","c":"x\u00a0y","d":"x\u3000y"}`, `a=" " b="x y" c="x\u00a0y" d="x\u3000y"`},
		{"signs", `{"a":"x=y","b":"x\"y","c":"C:\\new","d":"{}","e":"[x]","f":"x,y;z'"}`, `a="x=y" b="x\"y" c="C:\\new" d={} e=[x] f=x,y;z'`},
		{"other scripts", `{"a":"日本","ключ":"é","b":"日本 語"}`, `a=日本 ключ=é b="日本 語"`},
		{"control characters", `{"a":"\u001b[31m\n\t\u007f\u0085\u2028\u202e\ufeff"}`, `a="\u001b[31m\n\t\u007f\u0085\u2028\u202e\ufeff"`},
		{"control characters in foreign JSON", "{\"a\":\"\u0085\u2028\u202e\xff\"}", `a="\u0085\u2028\u202e` + "\ufffd\""},
		{"keys", `{"":1,"a b":2,"a=b":3,"a\"b":4,"a\\b":5,"a\nb":6,"a\u00a0b":7,"\u202e":8,"\ufffd":9,"\u0061":10}`,
			`\_=1 a\u0020b=2 a\u003db=3 a\u0022b=4 a\\b=5 a\u000ab=6 a\u00a0b=7 \u202e=8 \ufffd=9 a=10`},
		{"array", `{"a":[],"b":[1, "x", {"y" : null}]}`, `a="[]" b="[1,\"x\",{\"y\":null}]"`},
		{"object", `{"a":{"b":1,"c":{"d":"x y","e":[1]}},"f":2}`, `a.b=1 a.c.d="x y" a.c.e="[1]" f=2`},
		{"empty object", `{"a":{},"b":{ },"c":{"d":{}}}`, `a="{}" b="{}" c.d="{}"`},
		{"keys of objects", `{"a.b":{"":1,"c d":2}}`, `a.b.\_=1 a.b.c\u0020d=2`},
		{"a key twice", `{"a":1,"a":2}`, `a=1 a=2`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(flat.Render(nil, []byte(tt.line)))
			if got != tt.want+"\n" {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			checkSafe(t, []byte(tt.line), got)
			readBack(t, got, []byte(tt.line))
		})
	}
}

func TestObjectsKeptAsJSON(t *testing.T) {
	line := []byte(`{"a":{"b": 1,"c":{"d":"x"}},"e":[{}]}`)
	want := `a="{\"b\":1,\"c\":{\"d\":\"x\"}}" e="[{}]"` + "\n"
	got := string(whole.Render(nil, line))
	if got != want {
		t.Errorf("got %s want %s", got, want)
	}
	readBack(t, got, line)
}

func TestForeignBytesPassThroughEscaped(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"", ""},
		{"panic: runtime error", "panic: runtime error"},
		{"level=info msg=\"x y\" path=C:\\x", "level=info msg=\"x y\" path=C:\\x"},
		{"\x1b[31mred\ttab\r\nnext", `\u001b[31mred\u0009tab\u000d\u000anext`},
		{"a\u0085b\u2028c\u202ed\ufeffe\xfff\u00a0g", `a\u0085b\u2028c\u202ed\ufeffe\ufffdf` + "\u00a0g"},
		{`[1,2]`, `[1,2]`},
		{`{"a":1`, `{"a":1`},
		{`{"a":1,}`, `{"a":1,}`},
		{`{"a":1}x}`, `{"a":1}x}`},
		{`{"a":1 "b":2}`, `{"a":1 "b":2}`},
		{`{"a":nil}`, `{"a":nil}`},
		{`{x}`, `{x}`},
		{`{`, `{`},
	} {
		got := string(flat.Render(nil, []byte(tt.line)))
		if got != tt.want+"\n" {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
		checkSafe(t, []byte(tt.line), got)
	}
}

// hostile lists texts that try to control a terminal or to add a field.
var hostile = func() []string {
	list := []string{
		"\x1b[31mred", "\x9b31m", "\u009b31m", "a\nlevel=fatal", "a\r\n", "\u2028level=fatal", "user\u202e\u2066txt.exe", "\ufeffbom", "\xff\xfe", "\xed\xa0\x80",
		"x level=fatal", "x\" level=fatal y=\"", "level=fatal", "=", "", " ", "\"", "\\", "\\\"", `\u0020`, `\_`, "\\\\ x", "1", "-", "null", "{}", "[", "a\u00a0b", "a\u3000b", "\u1680",
		"𝔘\U0001f34a", "\ufffd", "\t", "a.b", ".", "..",
	}
	for c := range 0xa0 {
		list = append(list, "a"+string(rune(c))+"b")
	}
	return list
}()

func TestHostileTextAddsNoFieldAs(t *testing.T) {
	for _, tt := range []struct {
		name string
		log  func(l *nib.Logger, text string)
	}{
		{"message", func(l *nib.Logger, s string) { l.Info().Msg(s) }},
		{"key", func(l *nib.Logger, s string) { l.Info().Str(s, "v").Msg("m") }},
		{"value", func(l *nib.Logger, s string) { l.Info().Str("k", s).Msg("m") }},
		{"logger", func(l *nib.Logger, s string) { l.Named(s).Info().Msg("m") }},
		{"error", func(l *nib.Logger, s string) { l.Info().Err(errors.New(s)).Msg("m") }},
		{"key of an object", func(l *nib.Logger, s string) { l.Info().Dict("d", func(e *nib.Event) { e.Str(s, "v") }).Msg("m") }},
		{"object", func(l *nib.Logger, s string) { l.Info().Dict(s, func(e *nib.Event) { e.Str(s, s) }).Msg("m") }},
		{"element", func(l *nib.Logger, s string) { l.Info().Strs(s, []string{s, s}).Msg("m") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range hostile {
				var line bytes.Buffer
				tt.log(nib.New(&line), s)
				for _, sink := range []*Sink{flat, whole} {
					shown := string(sink.Render(nil, line.Bytes()))
					checkSafe(t, line.Bytes(), shown)
					readBack(t, shown, line.Bytes())
				}
			}
		})
	}
}

// The oracle must detect errors.
func TestReadBackCanFail(t *testing.T) {
	line := []byte(`{"a":"x y","b":{"c":1},"d":[1]}`)
	for _, logfmt := range []string{
		`a=x y b.c=1 d="[1]"`, `a="x y" b.c=1`, `a="x y" b.c="1" d="[1]"`, `a="x z" b.c=1 d="[1]"`, `a="x y" b.c=1 d="[2]"`, `a="x y" c=1 d="[1]"`,
		`a="x y" b.c=1 d="[1]" e=1`, `a="x y"b.c=1 d="[1]"`, `a="x y" b.c=1 d=[1]`, `"a"="x y" b.c=1 d="[1]"`, `a="x y"  b.c=1 d="[1]"`,
	} {
		probe := new(testing.T)
		if readBack(probe, logfmt, line); !probe.Failed() {
			t.Errorf("%s passes for %s", logfmt, line)
		}
	}
}

func TestFlatteningIsBounded(t *testing.T) {
	deep := `{"a":` + strings.Repeat(`{"b":`, 100) + `1` + strings.Repeat(`}`, 100) + `}`
	got := string(flat.Render(nil, []byte(deep)))
	if want := "a" + strings.Repeat(".b", 32) + `="{\"b\":{`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want the beginning %s", got, want)
	}
	readBack(t, got, []byte(deep))

	for n, flattened := range map[int]bool{maxPath - 1: true, maxPath: false} {
		key := strings.Repeat("k", n)
		line := fmt.Sprintf(`{"%s":{"a":1,"b":2}}`, key)
		want := fmt.Sprintf("%s.a=1 %s.b=2\n", key, key)
		if !flattened {
			want = key + `="{\"a\":1,\"b\":2}"` + "\n"
		}
		got := string(flat.Render(nil, []byte(line)))
		if got != want {
			t.Errorf("path of %d bytes: got %s want %s", n+1, got, want)
		}
	}
}

// A line with every type that nib can log is read back completely.
func TestALineOfEverythingIsReadBack(t *testing.T) {
	var line, out bytes.Buffer
	log := func(l *nib.Logger) {
		l.Named("db").Error().Err(errors.New("a b")).Any("any", map[string]any{"x": []any{1, "two", nil}, "y": map[string]any{}}).
			Float64("f", 1e-9).Dur("d", time.Second).Time("t", time.Unix(0, 0)).RawJSON("raw", []byte(`{"z": [1, {"q":"\u0000"}]}`)).
			Strs("strs", []string{"a b", ""}).Bytes("bytes", []byte("\x00\xff")).Err(nil).Msg("done\nit")
	}
	fixed := nib.WithClock(func() time.Time { return time.Unix(1, 0) })
	log(nib.New(&line, fixed))
	log(nib.NewSink(New(&out, Config{}), fixed))
	readBack(t, out.String(), line.Bytes())
}

func FuzzLine(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
		quoted, _ := json.Marshal(s)
		f.Add(fmt.Appendf(nil, `{"k":%s,%s:{%s:[%s]},"message":"%s"}`, quoted, quoted, quoted, quoted, s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		given := bytes.Clone(line)
		for _, sink := range []*Sink{flat, whole} {
			shown := string(sink.Render(nil, line))
			checkSafe(t, line, shown)
			if trimmed := bytes.Trim(line, space); json.Valid(trimmed) && trimmed[0] == '{' {
				readBack(t, shown, trimmed)
			}
		}
		if !bytes.Equal(line, given) {
			t.Errorf("%q: the line was changed to %q", given, line)
		}
	})
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

func TestALineIsOneWrite(t *testing.T) {
	var w countingWriter
	l := nib.NewSink(New(&w, Config{}))
	for range 10 {
		l.Info().Str("k", "v w").Msg("m")
	}
	if n := strings.Count(w.String(), "\n"); w.writes != 10 || n != 10 {
		t.Errorf("%d lines in %d writes, want 10 in 10", n, w.writes)
	}
}

// A shortWriter writes a few bytes at a time.
type shortWriter struct{ bytes.Buffer }

func (w *shortWriter) Write(p []byte) (int, error) { return w.Buffer.Write(p[:min(len(p), 3)]) }

func TestAShortWriteIsGoneOnWith(t *testing.T) {
	var w shortWriter
	s := New(&w, Config{})
	if err := s.WriteRecord(&nib.Record{Line: []byte(`{"a":"x y","b":2}` + "\n")}); err != nil || w.String() != "a=\"x y\" b=2\n" {
		t.Errorf("got %q, %v", w.String(), err)
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
	s := New(w, Config{})
	if err := errors.Join(s.WriteRecord(&nib.Record{Line: []byte(`{"a":1}` + "\n")}), s.Flush(t.Context())); err != nil || w.Flushes() != 1 || w.Recorder.Len() != 0 || w.String() != "a=1\n" {
		t.Errorf("flushed %d times, wrote %q and the records %q, error %v", w.Flushes(), w.String(), w.Lines(), err)
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

func TestOnlyAFileNeverLogs(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ofFile, ofBuffer := contract.TraitsOf(New(file, Config{})), contract.TraitsOf(New(new(bytes.Buffer), Config{}))
	if ofFile != contract.NeverLogs || ofBuffer&contract.NeverLogs != 0 {
		t.Error("want true for a file and false for a buffer")
	}
}

func TestNewWithoutAWriterPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(nil, Config{})
}

func TestManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, Config{})
	l := nib.NewSink(s, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				l.Info().Int("i", i).Dict("d", func(e *nib.Event) { e.Str("k", "x y") }).Msg("m")
				_ = s.Render(nil, []byte(`{"a":[1]}`))
			}
		}()
	}
	wg.Wait()
	for i := range 8 {
		want := fmt.Sprintf("level=info i=%d d.k=\"x y\" message=m\n", i)
		if n := strings.Count(out.String(), want); n != 100 {
			t.Errorf("goroutine %d: %d whole lines, want 100", i, n)
		}
	}
}

// discard is io.Discard without its other methods.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

var sample = []byte(`{"time":"2026-01-02T15:04:06.120Z","level":"info","logger":"http","method":"GET","path":"/cart","status":200,"took":1.92,"agent":"Mozilla/5.0 (X11; Linux x86_64)","user":{"id":7,"name":"Ann Lee"},"tags":["a","b"],"a b":"\u001b\ud83c\udf4a 日本","message":"request served"}` + "\n")

func TestNothingIsAllocated(t *testing.T) {
	for name, keep := range map[string]bool{"flat": false, "JSON": true} {
		s := New(discard{}, Config{KeepObjects: keep})
		t.Run("WriteRecord/"+name, func(t *testing.T) {
			r := &nib.Record{Line: sample}
			alloctest.Zero(t, func() { _ = s.WriteRecord(r) })
		})
		t.Run("Render/"+name, func(t *testing.T) {
			var dst []byte
			alloctest.Zero(t, func() { dst = s.Render(dst[:0], sample) })
		})
	}
}

func TestAHugeLineIsNotKept(t *testing.T) {
	e := new(encoder)
	e.buf = e.line(e.buf, []byte(`{"message":"`+strings.Repeat("x", 1<<20)+`"}`))
	e.record.Level = nib.LevelFatal
	e.release()
	if e.record.Level != nib.LevelFatal {
		t.Error("an encoder with a huge buffer went back to the pool")
	}
}

func BenchmarkRender(b *testing.B) {
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = flat.Render(dst[:0], sample)
	}
}
