// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/settings"
)

// Tests start this binary again as a process that dies in some way. The
// environment selects how, and has its configuration; its reports go to
// standard error, and its lines to standard output and files.
const (
	roleVar   = "NIB_SETUP_TEST_ROLE"
	configVar = "NIB_SETUP_TEST_CONFIG"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		for _, name := range settings.Names(settings.Of(new(Config))) { // of the environment of the tests
			_ = os.Unsetenv("NIB_" + strings.ToUpper(name))
		}
		for _, name := range []string{"CLICOLOR_FORCE", "NO_COLOR", "COLUMNS"} {
			_ = os.Unsetenv(name)
		}
		unignore()
		os.Exit(m.Run())
	}
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv(configVar)), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(100)
	}
	if role != "deadlock" { // which the runtime does not detect while there is a timer
		time.AfterFunc(2*testTimeout, func() { os.Exit(102) })
	}
	roles[role](c)
}

// unignore makes the processes that tests start die of signals even if the
// tests run with these ignored, as under nohup(1) and in the background of a
// shell script: ignored signals are inherited, handled ones are not.
func unignore() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// roles are the functions of such a process.
var roles = map[string]func(c Config){
	"return":          func(c Config) { defer live(c).Close() },
	"os.Exit":         func(c Config) { defer live(c).Close(); os.Exit(3) },
	"panic in main":   func(c Config) { defer live(c).Close(); mayPanic() },
	"panic elsewhere": func(c Config) { defer live(c).Close(); go mayPanic(); select {} },
	"panic, guarded":  func(c Config) { log := live(c); defer log.Close(); go guardedPanic(log); select {} },
	"panic with newlines": func(c Config) {
		defer live(c).Close()
		panic("first\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n")
	},
	"panic in Lambda": func(c Config) {
		c.lambda = true
		defer live(c).Close()
		go mayPanic()
		select {}
	},
	"nil pointer":          func(c Config) { defer live(c).Close(); go nilPointer(); select {} },
	"Fatal":                func(c Config) { log := live(c); defer log.Close(); log.Fatal().Msg("fatal") },
	"Panic":                func(c Config) { log := live(c); defer log.Close(); log.Panic().Msg("given up") },
	"fatal error":          func(c Config) { defer live(c).Close(); unlockUnlocked() },
	"concurrent map write": func(c Config) { defer live(c).Close(); writeMap() },
	"deadlock":             func(c Config) { defer live(c).Close(); <-make(chan int) },
	"stack overflow":       func(c Config) { defer live(c).Close(); debug.SetMaxStack(1 << 18); _ = overflow(0) },
	"out of memory":        func(c Config) { defer live(c).Close(); fillMemory() },
	"wait":                 func(c Config) { defer live(c).Close(); ready(); select {} },
	"context":              waitForContext,
	"context, deaf":        deaf,
	"wait for a panic":     waitForPanic,

	"remove the folder and panic": func(c Config) {
		defer live(c).Close()
		_ = os.RemoveAll(filepath.Dir(filepath.Dir(strings.TrimPrefix(c.Output[0], "file:"))))
		go mayPanic()
		select {}
	},
	"hang":             hang,
	"hang without end": hangWithoutEnd,
	"only own sink":    func(c Config) { c.Sinks = []nib.Sink{new(ownSink)}; defer live(c).Close(); panic("boom") },
}

// live opens a Log and logs three lines.
func live(c Config) *Log {
	log, err := Open(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(101)
	}
	for n := range 3 {
		log.Info().Int("n", n).Msg("line")
	}
	return log
}

func ready() { fmt.Fprintln(os.Stderr, "ready") }

func mayPanic() { panic("boom") }

func guardedPanic(log *Log) { defer log.Guard(); mayPanic() }

func nilPointer() { var p *int; *p = 1 }

func unlockUnlocked() { var mu sync.Mutex; mu.Unlock() }

// fillMemory takes a terabyte at a time, or on 32 bits a gigabyte, and touches
// none of it.
func fillMemory() {
	var keep [][]byte
	for {
		keep = append(keep, make([]byte, 1<<(30+10*(^uint(0)>>63))))
		runtime.KeepAlive(keep)
	}
}

func writeMap() {
	m := map[int]int{}
	for range 4 {
		go func() {
			for {
				m[0]++
			}
		}()
	}
	select {}
}

// overflow overflows the stack; n keeps the compiler and vet from noticing.
func overflow(n int) int {
	if n < 0 {
		return n
	}
	return overflow(n+1) + 1
}

func waitForContext(c Config) {
	log := live(c)
	defer log.Close()
	ctx := log.Context()
	ready()
	<-ctx.Done()
	fmt.Fprintln(os.Stderr, context.Cause(ctx))
}

func deaf(c Config) {
	log := live(c)
	defer log.Close()
	ctx := log.Context()
	fmt.Fprintln(os.Stderr, "handling")
	<-ctx.Done()
	ready()
	select {}
}

// waitForPanic prints the process ID of its monitor, and waits.
func waitForPanic(c Config) {
	log := live(c)
	defer log.Close()
	usr2 := make(chan os.Signal, 1)
	signal.Notify(usr2, syscall.SIGUSR2)
	ready()
	fmt.Fprintln(os.Stderr, log.monitor.Process.Pid)
	<-usr2
	go mayPanic()
	select {}
}

func (p *child) monitorPID(t *testing.T) (pid int) {
	t.Helper()
	if _, err := fmt.Fscanln(p.stderr, &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// hanging returns a sink whose Flush does not return.
func hanging() nib.Sink {
	rec := new(recordtest.Recorder)
	rec.FlushWith(func(context.Context) error {
		fmt.Fprintln(os.Stderr, "flushing")
		select {}
	})
	return rec
}

func hang(c Config) {
	c.Sinks = append(c.Sinks, hanging())
	defer live(c).Close()
}

func hangWithoutEnd(c Config) {
	c.Sinks = append(c.Sinks, hanging())
	defer live(c).Close()
	ready()
	select {}
}

type ownSink struct{}

func (*ownSink) WriteRecord(*nib.Record) error { return nil }

// A child is such a process.
type child struct {
	cmd     *exec.Cmd
	out     bytes.Buffer // standard output
	stderr  *bufio.Reader
	errText bytes.Buffer // read from it so far
}

func start(t *testing.T, role string, c Config, change ...func(*exec.Cmd)) *child {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = testTimeout
	}
	text, err := json.Marshal(c)
	must.Succeed(t, err)
	p := &child{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), roleVar+"="+role, configVar+"="+string(text), "GOTRACEBACK=single",
		"GORACE=atexit_sleep_ms=0") // otherwise each process would take a second longer under the race detector
	p.cmd.Stdout = &p.out
	for _, f := range change {
		f(p.cmd)
	}
	stderr, err := p.cmd.StderrPipe()
	must.Succeed(t, err)
	p.stderr = bufio.NewReader(io.TeeReader(stderr, &p.errText))
	must.Succeed(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// throughShell makes a shell start the process, which is $0 in the script.
func throughShell(t *testing.T, script string) func(*exec.Cmd) {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("needs a shell: %v", err)
	}
	return func(cmd *exec.Cmd) { cmd.Path, cmd.Args = shell, []string{"sh", "-c", script, cmd.Path} }
}

// await reads standard error up to a line.
func (p *child) await(t *testing.T, want string) {
	t.Helper()
	for {
		line, err := p.stderr.ReadString('\n')
		if line == want+"\n" {
			return
		}
		if err != nil {
			t.Fatalf("standard error ends without %q:\n%s", want, &p.errText)
		}
	}
}

// wait waits for the end of the process and of its monitor, which hold standard
// output and error open.
func (p *child) wait() syscall.WaitStatus {
	_, _ = io.Copy(io.Discard, p.stderr)
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// exited and killed are statuses.
func exited(code int) syscall.WaitStatus           { return syscall.WaitStatus(code << 8) }
func killed(sig syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(sig) }
func sameEnd(a, b syscall.WaitStatus) bool {
	return a.ExitStatus() == b.ExitStatus() && a.Signal() == b.Signal()
}
func describe(s syscall.WaitStatus) string {
	return fmt.Sprintf("exit %d, signal %v", s.ExitStatus(), s.Signal())
}
func ends(t *testing.T, p *child, w syscall.WaitStatus) { t.Helper(); endsAs(t, p, p.wait(), w) }

func endsAs(t *testing.T, p *child, got, want syscall.WaitStatus) {
	t.Helper()
	if !sameEnd(got, want) {
		t.Errorf("got %s, want %s; standard error:\n%s", describe(got), describe(want), &p.errText)
	}
}

// buffered returns standard output and a file, which hold lines back for an
// hour.
func buffered(t *testing.T) (c Config, path string) {
	path = filepath.Join(t.TempDir(), "app.log")
	return Config{Output: []string{
		"stdout?buffer=64KiB&delay=1h",
		"file:" + path + "?buffer=64KiB&delay=1h",
	}}, path
}

// plain returns the same without buffers.
func plain(t *testing.T) (c Config, path string) {
	path = filepath.Join(t.TempDir(), "app.log")
	return Config{Output: []string{"stdout", "file:" + path}}, path
}
