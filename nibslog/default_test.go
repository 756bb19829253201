// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/nibslog"
)

// childVar makes the test binary end the process in one of ways instead.
const childVar = "NIBSLOG_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVar); name != "" {
		child := ways[name]
		child.set(nib.New(bufio.NewWriter(os.Stdout), nib.WithLayout(bareLayout), nib.WithLevel(nib.LevelError)))
		child.end()
		os.Exit(99) // not reached
	}
	os.Exit(m.Run())
}

var bareLayout = nib.Layout{TimeKey: nib.OmitKey}

// ways are ways to end a process by package log.
var ways = map[string]struct {
	set  func(l *nib.Logger)
	end  func()
	want string
	code int
}{
	"log.Fatal":            {nibslog.SetDefault, func() { log.Fatal("wh", "y") }, fatalLine, 1},
	"log.Fatalf":           {nibslog.SetDefault, func() { log.Fatalf("%sy", "wh") }, fatalLine, 1},
	"log.Fatalln":          {nibslog.SetDefault, func() { log.Fatalln("why") }, fatalLine, 1},
	"log.Panic":            {nibslog.SetDefault, func() { log.Panic("why") }, panicLine, 2},
	"log.Panicf":           {nibslog.SetDefault, func() { log.Panicf("why") }, panicLine, 2},
	"log.Panicln":          {nibslog.SetDefault, func() { log.Panicln("why") }, panicLine, 2},
	"Logger.Fatal":         {nibslog.SetDefault, func() { log.Default().Fatal("why") }, fatalLine, 1},
	"Logger.Fatalf":        {nibslog.SetDefault, func() { log.Default().Fatalf("why") }, fatalLine, 1},
	"Logger.Fatalln":       {nibslog.SetDefault, func() { log.Default().Fatalln("why") }, fatalLine, 1},
	"another Logger":       {nibslog.SetDefault, func() { log.New(log.Writer(), "", 0).Fatal("why") }, fatalLine, 1},
	"a writer in between":  {nibslog.SetDefault, teeFatal, fatalLine, 1},
	"in a deferred call":   {nibslog.SetDefault, func() { defer log.Fatal("why") }, fatalLine, 1},
	"a String that prints": {nibslog.SetDefault, func() { log.Fatal(printer{}) }, fatalLine, 1},
	"set twice": {func(l *nib.Logger) { nibslog.SetDefault(l); nibslog.SetDefault(l) }, func() { log.Fatal("why") },
		fatalLine, 1},
	"slog.SetDefault, not raised": {func(l *nib.Logger) {
		slog.SetDefault(slog.New(nibslog.NewHandler(l.WithOptions(nib.WithLevel(nib.LevelInfo)))))
	}, func() { log.Fatal("why") }, fatalLine, 1},
}

const (
	fatalLine = `{"level":"fatal","message":"why"}` + "\n"
	panicLine = `{"level":"panic","message":"why"}` + "\n"
)

func teeFatal() {
	log.SetOutput(io.MultiWriter(io.Discard, log.Writer()))
	log.Fatal("why")
}

// A printer prints while log.Fatal formats it; that line is an ordinary one.
type printer struct{}

func (printer) String() string {
	log.Print("dropped")
	return "why"
}

func TestTextOfLogFatalSurvivesARaisedLevel(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVar+"="+name, "GOTRACEBACK=single")
			var exit *exec.ExitError
			out, err := cmd.Output()
			if !errors.As(err, &exit) || exit.ExitCode() != way.code {
				t.Errorf("got %v, want exit code %d", err, way.code)
			}
			if got := string(out); got != way.want {
				t.Errorf("got  %q\nwant %q", got, way.want)
			}
		})
	}
}

// keepDefaults restores slog's and log's defaults when the test is over.
func keepDefaults(t *testing.T) {
	t.Helper()
	s, w, flags, prefix := slog.Default(), log.Writer(), log.Flags(), log.Prefix()
	t.Cleanup(func() {
		slog.SetDefault(s)
		log.SetOutput(w)
		log.SetFlags(flags)
		log.SetPrefix(prefix)
	})
}

func TestSetDefaultTakesTheLinesOfLogAndSlog(t *testing.T) {
	keepDefaults(t)
	log.SetFlags(log.LstdFlags | log.Lshortfile)
	log.SetPrefix("app: ")
	var rec recordtest.Recorder
	var level nib.LevelVar
	nibslog.SetDefault(nib.NewSink(&rec, nib.WithLayout(bareLayout), nib.WithLevel(&level)))
	slog.Info("from slog", "n", 1)
	log.Print("from log")
	usercode.Idle()
	log.Println("two\nlines")
	usercode.Idle()
	level.Set(nib.LevelWarn)
	slog.Info("off")
	log.Print("off")
	func() {
		defer func() {
			if got, want := recover(), "why"; got != want {
				t.Errorf("log.Panic: got %v, want %v", got, want)
			}
		}()
		log.Panic("why")
	}()
	usercode.Idle()
	want := `{"level":"info","n":1,"message":"from slog"}
{"level":"info","message":"app: from log"}
{"level":"info","message":"app: two\nlines"}
{"level":"panic","message":"app: why"}
`
	if got := strings.Join(rec.Lines(), "\n") + "\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := log.Flags(); got != 0 {
		t.Errorf("log.Flags: got %d, want 0", got)
	}
}

func TestSetDefaultShowsTheCallSiteOfLog(t *testing.T) {
	keepDefaults(t)
	for name, set := range map[string]func(l *nib.Logger){
		"SetDefault":      nibslog.SetDefault,
		"slog.SetDefault": func(l *nib.Logger) { slog.SetDefault(slog.New(nibslog.NewHandler(l))) },
	} {
		var rec recordtest.Recorder
		set(nib.NewSink(&rec, nib.WithLayout(bareLayout), nib.WithCaller()))
		log.Print("m")
		usercode.Idle()
		if got, want := rec.Last(), `"caller":"nibslog/default_test.go:`; !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestSetDefaultOfNilDiscards(t *testing.T) {
	keepDefaults(t)
	nibslog.SetDefault(nil)
	log.Print("nothing")
	slog.Error("nothing")
	if _, err := fmt.Fprintln(log.Writer(), "nothing"); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

// A middle is a handler between slog and nib.
type middle struct {
	slog.Handler
	handle func(r *slog.Record)
}

func (m middle) Handle(ctx context.Context, r slog.Record) error {
	m.handle(&r)
	return m.Handler.Handle(ctx, r)
}

func TestAttributesThatAHandlerAddsToALineOfLog(t *testing.T) {
	for _, flags := range []int{0, log.Lshortfile} {
		keepDefaults(t)
		var rec recordtest.Recorder
		h := middle{nibslog.NewHandler(nib.NewSink(&rec, nib.WithLayout(bareLayout))), func(r *slog.Record) { r.AddAttrs(slog.Int("n", 1)) }}
		log.SetFlags(flags) // with a file, the record has a call site
		slog.SetDefault(slog.New(h))
		log.Print("m")
		usercode.Idle()
		slog.NewLogLogger(h, slog.LevelWarn).Print("m")
		usercode.Idle()
		want := `{"level":"info","n":1,"message":"m"}
{"level":"warn","n":1,"message":"m"}`
		if got := strings.Join(rec.Lines(), "\n"); got != want {
			t.Errorf("flags %d: got\n%s\nwant\n%s", flags, got, want)
		}
	}
}

// The call site of the handler's own line is first seen while it handles a line
// of package log.
func TestALineThatAHandlerLogsMeanwhileIsAnOrdinaryOne(t *testing.T) {
	keepDefaults(t)
	var rec recordtest.Recorder
	l := nib.NewSink(&rec, nib.WithLayout(bareLayout))
	ctx := nib.NewContext(t.Context(), l.With(func(e *nib.Event) { e.Str("id", "r1") }))
	audit := slog.New(nibslog.NewHandler(l))
	h := middle{nibslog.NewHandler(nib.New(io.Discard)), func(*slog.Record) { audit.InfoContext(ctx, "audit") }}
	slog.NewLogLogger(h, slog.LevelInfo).Print("m")
	slog.New(h).Info("m")
	usercode.Idle()
	const line = `{"level":"info","id":"r1","message":"audit"}`
	if got, want := strings.Join(rec.Lines(), "\n"), line+"\n"+line; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A stack begins where the program logs, not in slog or package log.
func TestStacksBeginInTheCaller(t *testing.T) {
	var rec recordtest.Recorder
	l := nib.NewSink(&rec, nib.WithStack(nib.LevelInfo))
	defer func(l *slog.Logger, flags int) {
		slog.SetDefault(l)
		log.SetFlags(flags)
		log.SetOutput(os.Stderr)
	}(slog.Default(), log.Flags())
	nibslog.SetDefault(l)
	slog.Error("m1", "a", 1)
	slog.With("a", 1).InfoContext(t.Context(), "m2")
	log.Print("m3")
	l.StdLog(nib.LevelInfo).Println("m4")
	slog.NewLogLogger(nibslog.NewHandler(l), slog.LevelInfo).Print("m5")
	usercode.Idle()
	const want = "github.com/nib-log/nib/nibslog_test.TestStacksBeginInTheCaller\n"
	for _, message := range []string{"m1", "m2", "m3", "m4", "m5"} {
		if got, _ := rec.Find(message)["stack"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", message, got, want)
		}
	}
}
