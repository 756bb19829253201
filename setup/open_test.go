// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibtest"
)

// flushingWith returns a sink of the program whose Flush calls flush.
func flushingWith(flush func() error) *recordtest.Recorder {
	rec := new(recordtest.Recorder)
	rec.FlushWith(func(context.Context) error { return flush() })
	return rec
}

// written returns the lines of p.
func written(p *recordtest.Recorder) string { return strings.Join(p.Lines(), "\n") }

// wantFlushed checks that p was flushed once and not closed.
func wantFlushed(t *testing.T, p *recordtest.Recorder) {
	t.Helper()
	_, err := p.Recorder.Deliver(context.Background(), nil)
	if n := p.Flushes(); n != 1 || err != nil {
		t.Errorf("got %d calls of Flush, and then %v, want one and no Close", n, err)
	}
}

// testTimeout is the Timeout of operations that must complete: on no machine
// does a process take this long to start, or a file to be flushed.
const testTimeout = 2 * time.Minute

// mustOpen opens a Log that does not handle the end of the process, and closes
// it after the test.
func mustOpen(t *testing.T, sources ...ConfigSource) *Log {
	t.Helper()
	l, err := Open(append(sources, Config{Signals: SwitchOff, Reopen: SwitchOff, Timeout: testTimeout})...)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// fileOutput returns an output and the path of its file.
func fileOutput(t *testing.T) (text, path string) {
	path = filepath.Join(t.TempDir(), "app.log")
	return "file:" + path, path
}

func TestFromLambda(t *testing.T) {
	for _, tt := range []struct{ name, level, format, nib, want string }{
		{"JSON", "DEBUG", "JSON", "", `{"timestamp":"2026-01-02T15:04:05.000Z","level":"DEBUG","message":"m"}
{"timestamp":"2026-01-02T15:04:05.000Z","level":"WARN","message":"m"}
`},
		{"text", "WARN", "Text", "", "time=2026-01-02T15:04:05.000Z level=warn message=m\n"},
		{"outside of Lambda", "", "", "", `{"time":"2026-01-02T15:04:05.000Z","level":"warn","message":"m"}` + "\n"},
		{"another format", "", "JSON", "slog", `{"time":"2026-01-02T15:04:05Z","level":"WARN","msg":"m"}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("AWS_LAMBDA_LOG_LEVEL", tt.level)
			t.Setenv("AWS_LAMBDA_LOG_FORMAT", tt.format)
			t.Setenv("NIB_FORMAT", tt.nib)
			o, path := fileOutput(t)
			l := mustOpen(t, FromLambda(), FromEnv("NIB"), Config{Output: []string{o}, Options: []nib.Option{nib.WithClock(new(nibtest.Clock).Now)}})
			l.Debug().Msg("m")
			l.Warn().Msg("m")
			if got := read(t, path); got != tt.want {
				t.Errorf("\n got %swant %s", got, tt.want)
			}
		})
	}
	t.Setenv("AWS_LAMBDA_LOG_LEVEL", "LOUD")
	t.Setenv("AWS_LAMBDA_LOG_FORMAT", "XML")
	_, err := Read(FromLambda())
	compare(t, err, []string{
		`AWS_LAMBDA_LOG_LEVEL: nib: unknown level "LOUD" `,
		`AWS_LAMBDA_LOG_FORMAT: "XML" is not a format (want JSON or Text)`,
	})
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"": `"level":"info","n":1,"message":"m"}`, "json": `"level":"info","n":1,"message":"m"}`,
		"console": `INFO  m  `, "logfmt": `level=info n=1 message=m`,
		"ecs": `"log.level":"info","message":"m","ecs.version":`, "gcp": `"severity":"INFO","n":1,"message":"m"}`,
		"datadog": `"status":"info"`, "otel": `"SeverityText":"INFO"`, "zap": `"level":"info"`, "zerolog": `"level":"info"`,
		"slog": `"level":"INFO"`, "logrus": `"level":"info","msg"`,
	} {
		o, path := fileOutput(t)
		l := mustOpen(t, Config{Format: format, Output: []string{o}})
		l.Info().Int("n", 1).Msg("m")
		if got := read(t, path); !strings.Contains(got, want) {
			t.Errorf("format %q:\n got %swant …%s…", format, got, want)
		}
	}
}

func TestEachOutputHasItsOwnFormatAndLevel(t *testing.T) {
	a, pathA := fileOutput(t)
	b, pathB := fileOutput(t)
	l := mustOpen(t, Config{Format: "ecs", Output: []string{a + "?format=logfmt", b + "?level=error"}})
	l.Info().Msg("i")
	l.Error().Msg("e")
	if got := read(t, pathA); strings.Count(got, "\n") != 2 || !strings.Contains(got, "log.level=info message=i") {
		t.Errorf("got\n%swant two lines of logfmt with the names of ECS", got)
	}
	if got := read(t, pathB); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"log.level":"error"`) {
		t.Errorf("got\n%swant one line of JSON", got)
	}
}

func TestLevelsCallerStackFieldsOptions(t *testing.T) {
	var rules nib.Rules
	p := new(recordtest.Recorder)
	l := mustOpen(t, Config{
		Level: "warn,db=debug", Rules: &rules, Caller: SwitchOn, Stack: "error", Fields: map[string]string{"b": "2", "a": "1"},
		Sinks: []nib.Sink{p}, Options: []nib.Option{nib.WithClock(func() time.Time { return time.Unix(0, 0) })},
	})
	l.Info().Msg("no")
	l.Named("db").Debug().Msg("yes")
	l.Error().Msg("stack")
	must.Succeed(t, rules.Set("info"))
	l.Info().Msg("yes now")
	got := p.Lines()
	if len(got) != 3 {
		t.Fatalf("got %q, want three lines", got)
	}
	for i, want := range []string{
		`{"time":"1970-01-01T00:00:00.000Z","level":"debug","logger":"db","caller":"setup/open_test.go:`,
		`"stack":"github.com/nib-log/nib/setup.TestLevels`,
		`"a":"1","b":"2","message":"yes now"}`,
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("got  %s\nwant …%s…", got[i], want)
		}
	}
}

func TestRulesOfTheProgramHoldWhereNoLevelIsSet(t *testing.T) {
	rules, err := nib.ParseRules("debug")
	must.Succeed(t, err)
	p := new(recordtest.Recorder)
	mustOpen(t, Config{Rules: rules, Sinks: []nib.Sink{p}}).Debug().Msg("yes")
	if rules.String() != "debug" || p.Len() == 0 {
		t.Errorf("got rules %q and %q", rules, p.Lines())
	}
}

func TestRulesWithoutOnesOfTheProgram(t *testing.T) {
	p := new(recordtest.Recorder)
	l := mustOpen(t, Config{Level: "error,db=debug", Sinks: []nib.Sink{p}})
	l.Info().Msg("no")
	l.Named("db").Debug().Msg("yes")
	if got := p.Last(); p.Len() != 1 || !strings.Contains(got, "yes") {
		t.Errorf("got %q, want one line", got)
	}
}

func TestOpenFailsAsAWhole(t *testing.T) {
	o, path := fileOutput(t)
	before := nib.Default()
	_, err := Open(Config{Default: SwitchOn, Output: []string{o, "file:" + t.TempDir(), "file:/nowhere/deep/x"}})
	text := fmt.Sprint(err)
	if !strings.Contains(text, "not a regular file") || !strings.Contains(text, "nib/setup: output file:/nowhere/deep/x: ") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want both faults", err)
	}
	if nib.Default() != before {
		t.Error("the default logger has changed")
	}
	if _, err := Open(Config{Output: []string{"file:" + path}, Signals: SwitchOff, Reopen: SwitchOff}); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestOneLogTakesCareOfTheProcess(t *testing.T) {
	first, err := Open(Config{})
	must.Succeed(t, err)
	_, err = Open(Config{})
	if !errors.Is(err, errOpen) || !strings.Contains(err.Error(), "switch off Signals") {
		t.Errorf("the second: got %v, want errOpen, with the settings that allow two", err)
	}
	_ = mustOpen(t, Config{}).Close()
	if _, err := Open(Config{}); !errors.Is(err, errOpen) {
		t.Errorf("after another has been closed: got %v, want errOpen", err)
	}
	_ = first.Close()
	_ = first.Close()
	second, err := Open(Config{})
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	_ = second.Close()
}

func TestDefaultLoggers(t *testing.T) {
	oldNib, oldSlog, oldFlags, oldWriter := nib.Default(), slog.Default(), log.Flags(), log.Writer()
	p := new(recordtest.Recorder)
	l, err := Open(Config{Default: SwitchOn, Signals: SwitchOff, Timeout: testTimeout, Sinks: []nib.Sink{p}})
	must.Succeed(t, err)
	nib.Info().Msg("nib")
	slog.Info("slog")
	log.Print("log")
	await.Until(t, "package log has written its line", func() bool { return p.Len() == 3 })
	must.Succeed(t, l.Close())
	for _, want := range []string{`"message":"nib"`, `"message":"slog"`, `"message":"log"`} {
		if !strings.Contains(written(p), want) {
			t.Errorf("got %q, want a line with %s", p.Lines(), want)
		}
	}
	if nib.Default() != oldNib || slog.Default() != oldSlog || log.Flags() != oldFlags || log.Writer() != oldWriter {
		t.Error("Close has not given the defaults back")
	}
}

// A hungSink blocks in WriteRecord, as a file does whose file system hangs.
type hungSink struct {
	contract.TraitSet
	entered, release chan struct{}
}

func (s *hungSink) WriteRecord(*nib.Record) error {
	close(s.entered)
	<-s.release
	return nil
}

// Package log holds its lock while it writes a line, and restoring its output
// takes that lock.
func TestCloseDoesNotWaitForLinesOfPackageLog(t *testing.T) {
	oldNib, oldWriter := nib.Default(), log.Writer()
	s := &hungSink{contract.TraitsFor(nil, contract.NeverLogs), make(chan struct{}), make(chan struct{})}
	l, err := Open(Config{Default: SwitchOn, Signals: SwitchOff, Timeout: 10 * time.Millisecond, Sinks: []nib.Sink{s}})
	must.Succeed(t, err)
	printed, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(printed)
		log.Print("hangs")
	}()
	<-s.entered
	go func() {
		defer close(closed)
		_ = l.Close()
	}()
	select {
	case <-closed:
	case <-time.After(testTimeout):
		t.Error("Close has not returned")
	}
	close(s.release)
	<-printed
	<-closed
	await.Until(t, "the defaults are restored", func() bool { return nib.Default() == oldNib && log.Writer() == oldWriter })
}

func TestCloseFlushesSinksOfTheProgramAndLeavesThemOpen(t *testing.T) {
	p := new(recordtest.Recorder)
	l := mustOpen(t, Config{Sinks: []nib.Sink{p}})
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	wantFlushed(t, p)
}

func TestCloseReportsWhatFailed(t *testing.T) {
	failed := errors.New("no space")
	for name, tt := range map[string]struct {
		flush func() error
		want  string
	}{
		"error":  {func() error { return failed }, "nib/setup: output Config.Sinks[0]: no space"},
		"panic":  {func() error { panic("boom") }, "nib/setup: output Config.Sinks[0]: Flush panicked: boom"},
		"Goexit": {func() error { runtime.Goexit(); return nil }, "nib/setup: output Config.Sinks[0]: Flush ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			o, path := fileOutput(t)
			o += "?buffer=1KiB"
			l := mustOpen(t, Config{Output: []string{o}, Sinks: []nib.Sink{flushingWith(tt.flush)}})
			l.Info().Msg("m")
			errText := reports(l)
			if err := l.Close(); fmt.Sprint(err) != tt.want || *errText != tt.want+"\n" {
				t.Errorf("got error %v and reported %q, want %q", err, *errText, tt.want)
			}
			if got := read(t, path); strings.Count(got, "\n") != 1 {
				t.Errorf("got %q in the file, want the line", got)
			}
		})
	}
}

// reports returns the errors that the end of l reports, a line each. It does
// not replace os.Stderr: outputs of other tests may report an error at any
// time.
func reports(l *Log) *string {
	text := new(string)
	l.report = func(err error) { *text += err.Error() + "\n" }
	return text
}

func TestReopen(t *testing.T) {
	o, path := fileOutput(t)
	o2, path2 := fileOutput(t)
	l := mustOpen(t, Config{Output: []string{o, "discard", o2}})
	errText := reports(l)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Skipf("an open file cannot be renamed here: %v", err)
	}
	if l.reopen(); *errText != "" {
		t.Error(*errText)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	for _, p := range []string{path, path2} {
		must.Succeed(t, os.Remove(p), os.Mkdir(p, 0o700))
	}
	l.reopen()
	for _, p := range []string{path, path2} {
		if !strings.Contains(*errText, "nib/setup: output file:"+p+": ") {
			t.Errorf("got %q, want an error for the folder in place of %s", *errText, p)
		}
	}
}

// TestHangupDuringCloseIsNoError gets SIGHUP when there is a folder in place of
// the file, and when the file is closed.
func TestHangupDuringCloseIsNoError(t *testing.T) {
	o, path := fileOutput(t)
	l := mustOpen(t, Config{Output: []string{o}})
	errText := reports(l)
	if err := errors.Join(os.Rename(path, path+".1"), os.Mkdir(path, 0o700)); err != nil {
		t.Skipf("an open file cannot be renamed here: %v", err)
	}
	if l.reopen(); !strings.HasPrefix(*errText, "nib/setup: output file:"+path) {
		t.Errorf("got %q, want an error for the folder in place of the file", *errText)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	*errText = ""
	if l.reopen(); *errText != "" {
		t.Errorf("after Close: got %q", *errText)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	o, _ := fileOutput(t)
	o += "?buffer=1KiB"
	for name, c := range map[string]Config{
		"everything": {Output: []string{"stderr?buffer=1KiB", o}, Signals: SwitchOn, Reopen: SwitchOn, Crash: SwitchOn, Default: SwitchOn},
		"nothing":    {},
	} {
		t.Run(name, func(t *testing.T) {
			awaitNoGoroutine(t) // of the test before
			c.Timeout = testTimeout
			l, err := Open(c)
			must.Succeed(t, err)
			running := goroutines()
			if name == "nothing" && running > 0 {
				t.Errorf("got %d goroutines that nobody has asked for", running)
			}
			if name == "everything" && running == 0 {
				t.Error("the test does not see the goroutines")
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			awaitNoGoroutine(t)
		})
	}
}

// awaitNoGoroutine waits for the end of nib's goroutines: a goroutine that has
// closed its channel may still exist, for long on a loaded machine.
func awaitNoGoroutine(t *testing.T) {
	t.Helper()
	await.Until(t, "nib's goroutines have ended", func() bool { return goroutines() == 0 })
}

// goroutines counts the goroutines started by nib.
func goroutines() int {
	buf := make([]byte, 1<<20)
	all := string(buf[:runtime.Stack(buf, true)])
	return strings.Count(all, "created by github.com/nib-log/nib/")
}

func TestContextWithoutSignals(t *testing.T) {
	for _, c := range []Config{{Signals: SwitchOff, Reopen: SwitchOff}, {}} {
		l, err := Open(c)
		must.Succeed(t, err)
		ctx := l.Context()
		if ctx.Err() != nil || ctx != l.Context() {
			t.Errorf("got %v", ctx)
		}
		_ = l.Close()
		if context.Cause(ctx) != context.Canceled || l.Context().Err() == nil {
			t.Errorf("after Close: cause %v, want %v", context.Cause(ctx), context.Canceled)
		}
	}
}

func TestPanicThatIsRecoveredOutside(t *testing.T) {
	p := new(recordtest.Recorder)
	defer func() {
		if got := recover(); got != "boom" {
			t.Errorf("got panic %v, want boom", got)
		}
		var last line
		if err := json.Unmarshal([]byte(p.Last()), &last); err != nil || last.Message != "panic: boom" || last.Level != "panic" {
			t.Errorf("got %s, %v, want a line with the panic", p.Lines(), err)
		}
		wantFlushed(t, p)
	}()
	l := mustOpen(t, Config{Sinks: []nib.Sink{p}})
	defer l.Close()
	panic("boom")
}

// Close in a panic releases the process, too, since the caller may recover, and
// open another Log.
func TestOpenAfterAPanicThatIsRecoveredOutside(t *testing.T) {
	o, _ := fileOutput(t)
	for range 2 {
		l, err := Open(Config{Output: []string{o}, Timeout: testTimeout})
		must.Succeed(t, err)
		ctx := l.Context()
		func() {
			defer func() { _ = recover() }()
			defer l.Close()
			panic("boom")
		}()
		if ctx.Err() == nil {
			t.Error("Close has not canceled the context")
		}
	}
}

func TestGuardLeavesTheLogOpen(t *testing.T) {
	p := new(recordtest.Recorder)
	l := mustOpen(t, Config{Sinks: []nib.Sink{p}})
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("got panic %v, want boom", got)
			}
		}()
		defer l.Guard()
		panic("boom")
	}()
	if !strings.Contains(written(p), `"message":"panic: boom"`) {
		t.Errorf("got %q, want a line with the panic", p.Lines())
	}
	wantFlushed(t, p)
	func() { defer l.Guard() }()
	l.Info().Msg("on")
	if p.Len() != 2 {
		t.Errorf("got %q, want one more line", p.Lines())
	}
	wantFlushed(t, p)
}

// An endsGoroutine is an error whose Error method ends the goroutine.
type endsGoroutine struct{}

func (endsGoroutine) Error() string {
	runtime.Goexit()
	return ""
}

// TestPanicWhoseTextEndsTheGoroutine checks that Close and Guard write a line,
// flush, and panic again, even if they cannot get the text of the panic.
func TestPanicWhoseTextEndsTheGoroutine(t *testing.T) {
	for name, handle := range map[string]func(*Log){"Close": endWithClose, "Guard": endWithGuard} {
		p := new(recordtest.Recorder)
		l := mustOpen(t, Config{Sinks: []nib.Sink{p}})
		var got any
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { got = recover() }()
			handle(l)
		}()
		<-done
		if got != (endsGoroutine{}) {
			t.Errorf("%s: got panic %T, want the program's", name, got)
		}
		if !strings.Contains(written(p), `"message":"panic: setup.endsGoroutine"`) {
			t.Errorf("%s: got %q, want a line with the type of the panic", name, p.Lines())
		}
		wantFlushed(t, p)
	}
}

func endWithClose(l *Log) {
	defer l.Close()
	panic(endsGoroutine{})
}

func endWithGuard(l *Log) {
	defer l.Guard()
	panic(endsGoroutine{})
}

func TestViewDoesNotAllocate(t *testing.T) {
	discarded, err := readOutput("discard?level=info", nil)
	must.Succeed(t, err)
	for _, format := range []string{"console", "logfmt"} {
		o, err := openOutput(&Config{Format: format}, discarded)
		must.Succeed(t, err)
		r := &nib.Record{Line: []byte(`{"time":"2026-01-02T15:04:05.000Z","level":"info","n":1,"message":"m"}` + "\n")}
		alloctest.Zero(t, func() { _ = o.sink.WriteRecord(r) })
	}
}

func TestSecondCloseOfALogThatFailed(t *testing.T) {
	l := mustOpen(t, Config{Sinks: []nib.Sink{flushingWith(func() error { return io.ErrShortWrite })}})
	errText := reports(l)
	first, second := l.Close(), l.Close()
	if first == nil || first != second || strings.Count(*errText, "\n") != 1 {
		t.Errorf("got %v and %v, and reported %q", first, second, *errText)
	}
}

// Paths may contain the name of the machine and the ID of the process.
func TestPathsNameHostAndProcess(t *testing.T) {
	host, err := os.Hostname()
	must.Succeed(t, err)
	dir := t.TempDir()
	given := []string{"file:" + filepath.Join(dir, "{host}-{pid}-{pid}.log"), "file:" + filepath.Join(dir, "{0}.log")}
	l := mustOpen(t, Config{Output: given})
	l.Info().Msg("m")
	must.Succeed(t, l.Close())
	for _, name := range []string{fmt.Sprintf("%s-%d-%d.log", host, os.Getpid(), os.Getpid()), "{0}.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if want := "file:" + filepath.Join(dir, "{host}-{pid}-{pid}.log"); given[0] != want {
		t.Errorf("the Config of the program has become %q", given[0])
	}
}
