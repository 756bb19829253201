// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/crashtext"
	"github.com/nib-log/nib/internal/must"
)

// crashed runs a process that crashes, and returns its lines about that from
// standard output and standard error.
func crashed(t *testing.T, role string, c Config) (out, errText []line) {
	t.Helper()
	c.Crash = SwitchOn
	p := start(t, role, c)
	ends(t, p, exited(2))
	_, out = parse(t, p.out.String())
	var lines strings.Builder // the runtime's own text is there as well
	for l := range strings.Lines(p.errText.String()) {
		if strings.HasPrefix(l, "{") {
			lines.WriteString(l)
		}
	}
	_, errText = parse(t, lines.String())
	return out, errText
}

func TestCrashLineOfAProgramWithSinksOfItsOwn(t *testing.T) {
	_, errText := crashed(t, "only own sink", Config{})
	if len(errText) != 1 || errText[0].Message != "panic: boom" {
		t.Errorf("got %+v on standard error, want the panic", errText)
	}
}

// TestCrashLineOnAStreamSharedWithTheRuntime checks that the text of the
// runtime may be around the line, but not in it.
func TestCrashLineOnAStreamSharedWithTheRuntime(t *testing.T) {
	for to, script := range map[string]string{"stderr": `exec "$0"`, "stdout": `exec "$0" 2>&1`} {
		t.Run(to, func(t *testing.T) {
			for range 5 {
				p := start(t, "panic elsewhere", Config{Crash: SwitchOn, Output: []string{to}}, throughShell(t, script))
				ends(t, p, exited(2))
				text := p.out.String() + p.errText.String()
				var lines strings.Builder
				for l := range strings.Lines(text) {
					if strings.Contains(l, `"message"`) {
						lines.WriteString(l)
					}
				}
				if n, others := parse(t, lines.String()); n != 3 || len(others) != 1 || others[0].Message != "panic: boom" {
					t.Fatalf("got\n%s\nwant three lines and one of a panic", text)
				}
			}
		})
	}
}

func TestCrashLineWhenAnOutputCannotBeOpenedAnyMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone", "logs", "app.log")
	for name, tt := range map[string]struct {
		outputs      []string
		out, errText int
	}{
		"one of two": {[]string{"file:" + path, "stdout"}, 1, 0},
		"all":        {[]string{"file:" + path}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
			out, errText := crashed(t, "remove the folder and panic", Config{Output: tt.outputs})
			if len(out) != tt.out || len(errText) != tt.errText {
				t.Errorf("got %d and %d lines, want %d and %d", len(out), len(errText), tt.out, tt.errText)
			}
		})
	}
}

func TestCrashLineInEveryFormat(t *testing.T) {
	for format, want := range map[string]string{
		"json": `"stack":"panic: boom\n\ngoroutine `, "console": "│ goroutine ", "logfmt": `stack="panic: boom\n\ngoroutine `,
		"ecs": `"error.stack_trace":"panic: boom\n`, "gcp": `"stack_trace":"panic: boom\n`, "datadog": `"error.stack":"panic: boom\n`,
		"otel": `"code.stacktrace":"panic: boom\n`, "zap": `"stacktrace":"panic: boom\n`, "zerolog": `"stack":"panic: boom\n`,
		"slog": `"stack":"panic: boom\n`, "logrus": `"stack":"panic: boom\n`,
	} {
		p := start(t, "panic elsewhere", Config{Format: format, Crash: SwitchOn, Fields: map[string]string{"service": "shop"}})
		ends(t, p, exited(2))
		if got := p.out.String(); !strings.Contains(got, want) || strings.Count(got, "shop") != 4 {
			t.Errorf("format %s: got\n%swant …%s… and four lines with the field", format, got, want)
		}
	}
}

func TestCrashLineInLambda(t *testing.T) {
	p := start(t, "panic in Lambda", Config{Crash: SwitchOn})
	ends(t, p, exited(2))
	lines := strings.Split(strings.TrimSpace(p.out.String()), "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, `{"timestamp":"`) {
			t.Errorf("got %s", line)
		}
	}
	if last := lines[len(lines)-1]; len(lines) != 4 || !strings.Contains(last, `"level":"FATAL"`) {
		t.Errorf("got %d lines, the last %s, want 4 and a FATAL one", len(lines), last)
	}
}

func TestCrashLineWithTheLongestTimeout(t *testing.T) {
	if _, errText := crashed(t, "only own sink", Config{Timeout: math.MaxInt64}); len(errText) != 1 {
		t.Errorf("got %+v, want one line", errText)
	}
}

func TestCrashLineWithEveryTraceback(t *testing.T) {
	for _, level := range []string{"none", "single", "all", "system"} {
		p := start(t, "panic elsewhere", Config{Crash: SwitchOn}, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "GOTRACEBACK="+level) })
		ends(t, p, exited(2))
		_, others := parse(t, p.out.String())
		if len(others) != 1 || others[0].Message != "panic: boom" || strings.Contains(others[0].Stack, "setup.mayPanic") != (level != "none") {
			t.Errorf("GOTRACEBACK=%s: got %+v", level, others)
		}
		if strings.Count(others[0].Stack, "\ngoroutine ") > 1 {
			t.Errorf("GOTRACEBACK=%s: got more than the stack that is to blame:\n%s", level, others[0].Stack)
		}
	}
}

// TestMonitorThatIsKilled checks that the process then dies as if there had
// been none.
func TestMonitorThatIsKilled(t *testing.T) {
	p := start(t, "wait for a panic", Config{Crash: SwitchOn})
	p.await(t, "ready")
	must.Succeed(t, syscall.Kill(p.monitorPID(t), syscall.SIGKILL))
	p.signal(t, syscall.SIGUSR2)
	ends(t, p, exited(2))
	if !strings.Contains(p.errText.String(), "panic: boom") {
		t.Errorf("got standard error %q", &p.errText)
	}
}

func TestMonitorThatDoesNotStart(t *testing.T) {
	for name, args := range map[string][]string{"ends": {"/bin/sh", "-c", "exit 3"}, "hangs": {"/bin/sh", "-c", "read x"}} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(args[0]); err != nil {
				t.Skipf("needs a shell: %v", err)
			}
			r, w, err := os.Pipe()
			must.Succeed(t, err)
			defer r.Close()
			defer w.Close()
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Stdin = r
			err = startAndAwait(cmd, map[string]time.Duration{"ends": time.Hour, "hangs": time.Millisecond}[name])
			if err == nil || !strings.Contains(err.Error(), "did not report") {
				t.Errorf("got %v", err)
			}
			if cmd.ProcessState == nil {
				t.Error("the process is left")
			}
		})
	}
}

func TestCloseEndsTheMonitor(t *testing.T) {
	l, err := Open(Config{Crash: SwitchOn, Timeout: testTimeout})
	must.Succeed(t, err)
	must.Succeed(t, l.Close())
	if state := l.monitor.ProcessState; state == nil || !state.Success() {
		t.Errorf("got state %v, want success", state)
	}
}

// TestCrashThatStops checks that the text so far is written, once, and that the
// dying process is not blocked without end.
func TestCrashThatStops(t *testing.T) {
	for _, gone := range []bool{true, false} {
		r, w, err := os.Pipe()
		must.Succeed(t, err)
		defer r.Close()
		_, _ = w.WriteString("panic: half")
		timeout := time.Millisecond
		if gone {
			_, timeout = w.Close(), time.Hour
		}
		var got []string
		awaitCrash(r, timeout, func(c *crashtext.Text) { got = append(got, c.Message()) }, func() { _ = w.Close() })
		if len(got) != 1 || got[0] != "panic: half" {
			t.Errorf("process gone %v: got %q, want one text", gone, got)
		}
	}
}

func TestNoCrashNoLine(t *testing.T) {
	r, w, err := os.Pipe()
	must.Succeed(t, err)
	defer r.Close()
	_ = w.Close()
	awaitCrash(r, time.Hour, func(c *crashtext.Text) { t.Errorf("got %q", c) }, nil)
}

func TestMonitorConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	must.Succeed(t, err)
	got := monitorConfig(&Config{
		Level: "error", Format: "ecs", Crash: SwitchOn, Default: SwitchOn, Signals: SwitchOn,
		Output: []string{"file:app.log?buffer=1B&delay=1ns", "stdout?buffer=1B&stall=2ns", "syslog+tcp://logs:514?spool=memory"},
	})
	want := `{"format":"ecs","output":["file:` + folder + `/app.log","stdout?stall=2ns"]}`
	if text, err := got.MarshalJSON(); err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
}

// A crash line for a destination behind a network waits in the spool, and the
// next process delivers it after the lines of the crashed process.
func TestCrashLineWaitsInTheSpool(t *testing.T) {
	dir := t.TempDir()
	kept, path := filepath.Join(dir, "spool"), filepath.Join(dir, "log")
	_, errText := crashed(t, "panic elsewhere", Config{Timeout: testTimeout, Output: []string{"syslog+tcp://127.0.0.1:1?spool=" + kept, "syslog+tcp://127.0.0.1:2?spool=memory"}})
	l := mustOpen(t, Config{Output: []string{"file:" + path + "?spool=" + kept}})
	await.Until(t, fmt.Sprintf("the crash line is delivered; standard error: %+v", errText), func() bool { return strings.Contains(read(t, path), `"level":"panic"`) })
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
