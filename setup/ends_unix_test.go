// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// A death is a way to die and its expected output.
type death struct {
	role   string
	signal syscall.Signal // sent to a process that waits
	status syscall.WaitStatus

	// With Crash off, and on: the message of the last line, or "" for no line.
	message, crash string
	level          string
	keeps          bool // the content of buffers is written
	stack          string
}

var deaths = []death{
	{role: "return", status: exited(0), keeps: true},
	{role: "os.Exit", status: exited(3)},
	{role: "Fatal", status: exited(1), message: "fatal", crash: "fatal", level: "fatal", keeps: true},
	{role: "panic in main", status: exited(2), message: "panic: boom", crash: "panic: boom", level: "panic", keeps: true, stack: "setup.mayPanic"},
	{role: "panic with newlines", status: exited(2), message: "panic: first\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1\n", crash: "panic: first", level: "panic", keeps: true, stack: "setup.init.func"},
	{role: "panic elsewhere", status: exited(2), crash: "panic: boom", level: "panic", stack: "setup.mayPanic"},
	{role: "panic, guarded", status: exited(2), message: "panic: boom", crash: "panic: boom", level: "panic", keeps: true, stack: "setup.mayPanic"},
	{role: "nil pointer", status: exited(2), crash: "panic: runtime error: invalid memory address or nil pointer dereference", level: "panic", stack: "setup.nilPointer"},
	{role: "fatal error", status: exited(2), crash: "fatal error in internal/sync.(*Mutex).unlockSlow", level: "fatal", stack: "setup.unlockUnlocked"},
	{role: "concurrent map write", status: exited(2), crash: "fatal error: concurrent use of a map", level: "fatal", stack: "setup.writeMap"},
	{role: "stack overflow", status: exited(2), crash: "fatal error: stack overflow", level: "fatal", stack: "setup.overflow"},
	{role: "out of memory", status: exited(2), crash: "fatal error: out of memory", level: "fatal", stack: "setup.fillMemory"},
	{role: "deadlock", status: exited(2), crash: "fatal error: all goroutines are asleep", level: "fatal", stack: "setup.init.func"},
	{role: "wait", signal: syscall.SIGTERM, status: killed(syscall.SIGTERM), keeps: true},
	{role: "wait", signal: syscall.SIGINT, status: killed(syscall.SIGINT), keeps: true},
	{role: "wait", signal: syscall.SIGKILL, status: killed(syscall.SIGKILL)},
	{role: "wait", signal: syscall.SIGQUIT, status: exited(2), crash: "SIGQUIT: quit", level: "fatal"},
}

func (d *death) name() string {
	if d.signal != 0 {
		return d.signal.String()
	}
	return d.role
}

// die runs the process.
func (d *death) die(t *testing.T, c Config) *child {
	t.Helper()
	if d.role == "deadlock" { // which the runtime does not detect while signals are handled
		c.Signals, c.Reopen = SwitchOff, SwitchOff
	}
	p := start(t, d.role, c)
	if d.signal != 0 {
		p.await(t, "ready")
		must.Succeed(t, p.cmd.Process.Signal(d.signal))
	}
	ends(t, p, d.status)
	return p
}

func TestEveryWayToDie(t *testing.T) {
	for _, d := range deaths {
		if race && (d.role == "concurrent map write" || d.role == "stack overflow") {
			continue // the race detector interferes here
		}
		for _, crash := range []Switch{SwitchOff, SwitchOn} {
			for _, outputs := range []string{"buffered", "plain"} {
				if d.role == "deadlock" && (cgo || outputs == "buffered") {
					continue // the runtime does not detect it in programs with cgo or while there is a timer
				}
				t.Run(d.name()+"/"+outputs+map[Switch]string{SwitchOff: "", SwitchOn: ", monitored"}[crash], func(t *testing.T) {
					c, path := plain(t)
					lines := 3
					if outputs == "buffered" {
						c, path = buffered(t)
						if !d.keeps {
							lines = 0
						}
					}
					c.Crash = crash
					p := d.die(t, c)
					d.check(t, p, p.out.String(), lines, crash)
					d.check(t, p, read(t, path), lines, crash)
				})
			}
		}
	}
}

// check checks the content of one output.
func (d *death) check(t *testing.T, p *child, text string, lines int, crash Switch) {
	t.Helper()
	n, others := parse(t, text)
	if n != lines {
		t.Errorf("got %d lines, want %d:\n%s", n, lines, text)
	}
	message := d.message
	if crash == SwitchOn {
		message = d.crash
	}
	if message == "" {
		if len(others) > 0 {
			t.Errorf("got a line %+v, want none", others[0])
		}
		return
	}
	if len(others) != 1 {
		t.Fatalf("got %d lines about the end, want 1:\n%s", len(others), text)
	}
	got := others[0]
	if got.Message != message || got.Level != d.level {
		t.Errorf("got %s %q, want %s %q", got.Level, got.Message, d.level, message)
	}
	if d.stack == "" {
		return
	}
	first, _, _ := strings.Cut(message, "\n")
	if errText := p.errText.String(); !strings.Contains(errText, d.stack) || got.Level == "panic" && !strings.Contains(errText, first) {
		t.Errorf("standard error does not have the panic and its stack:\n%s", errText)
	}
	if !strings.Contains(got.Stack, d.stack) {
		t.Errorf("got stack\n%s\nwant one with %s", got.Stack, d.stack)
	}
	if got.Build.ID == "" || got.Build.Go == "" || got.PID != p.cmd.Process.Pid {
		t.Errorf("got build %+v and pid %d, want %d", got.Build, got.PID, p.cmd.Process.Pid)
	}
}
