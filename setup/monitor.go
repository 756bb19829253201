// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/crashtext"
)

// The monitor is the process that writes the line of a crash. It is a second
// process of this program; a variable makes it the monitor, in init below,
// before main runs. Its standard input is a pipe that the runtime writes to
// when the process dies.

// monitorVar is the variable with the orders of a monitor.
const monitorVar = "NIB_SETUP_MONITOR"

// orders are the input of a monitor.
type orders struct {
	Config Config
	Lambda bool // Config.lambda, which is not part of its JSON
	PID    int
}

func init() {
	// A program with rights that its caller does not have ignores the variable.
	if text, ok := os.LookupEnv(monitorVar); ok && !hasOtherRights() {
		os.Exit(beMonitor(text))
	}
}

var errOtherRights = errors.New(
	"a program with set-uid or file capabilities, or without /proc, does not start itself again: " +
		"leave Crash off")

// startMonitor starts the monitor and returns when it is ready, so that no
// crash after a successful Open is missed.
func startMonitor(c *Config) (*exec.Cmd, error) {
	if hasOtherRights() {
		return nil, errOtherRights // the monitor would have to trust its environment
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(orders{monitorConfig(c), c.lambda, os.Getpid()})
	if err != nil {
		return nil, err
	}
	r, w, err := crashPipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	defer w.Close() // SetCrashOutput has a duplicate
	cmd := exec.Command(program)
	cmd.Args = []string{os.Args[0], fmt.Sprintf("(nib crash monitor of process %d)", os.Getpid())}
	cmd.Env = append(os.Environ(), monitorVar+"="+string(text), "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, os.Stdout, os.Stderr
	if err := startAndAwait(cmd, c.Timeout); err != nil {
		return nil, err
	}
	if err := debug.SetCrashOutput(w, debug.CrashOptions{}); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return cmd, nil
}

// monitorConfig returns the part of c that the monitor needs. Its paths do not
// depend on the working directory.
func monitorConfig(c *Config) Config {
	m := Config{Format: c.Format, Fields: c.Fields, Timeout: c.Timeout}
	for _, text := range c.Output {
		w, err := readOutput(text, c.Kinds)
		if err == nil && w.expandPaths() == nil { // otherwise it is not open
			if text, ok := w.forMonitor(); ok {
				m.Output = append(m.Output, text)
			}
		}
	}
	if len(m.Output) == 0 { // only sinks of the program, and spools in memory
		m.Output = []string{toStderr}
	}
	return m
}

// stopMonitor ends the monitor, which reads the end of the pipe and has nothing
// to do.
func stopMonitor(cmd *exec.Cmd, until time.Time) {
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	late := time.AfterFunc(time.Until(until), func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
}

// beMonitor runs the monitor and returns its exit status.
func beMonitor(text string) int {
	_ = os.Unsetenv(monitorVar)
	signal.Ignore() // all: they are for the process, whose crash must still be reported
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		writeError(fmt.Errorf("nib/setup: crash monitor: %w", err))
		return 1
	}
	sayReady()
	awaitCrash(os.Stdin, o.Config.withDefaults().Timeout, o.write, func() { os.Exit(1) })
	return 0
}

// awaitCrash reads to the end, and calls write once: when the text of a crash
// is complete, or after timeout if it does not become so. The dying process
// waits for that; after twice that time awaitCrash calls giveUp.
func awaitCrash(r *os.File, timeout time.Duration, write func(*crashtext.Text), giveUp func()) {
	var mu sync.Mutex
	var text crashtext.Text
	written := false
	finish := func() {
		mu.Lock()
		defer mu.Unlock()
		if !written && !text.Empty() {
			written = true
			write(&text)
		}
	}
	buf := make([]byte, 64<<10)
	for begun := false; ; begun = true {
		n, err := r.Read(buf)
		if n > 0 && !begun {
			defer time.AfterFunc(timeout, finish).Stop()
			// Twice the longest overflows.
			defer time.AfterFunc(max(timeout, 2*timeout), giveUp).Stop()
		}
		mu.Lock()
		complete := n > 0 && !written && text.Add(buf[:n])
		mu.Unlock()
		if complete || err != nil {
			finish()
			widen(r) // the rest is for standard error only
		}
		if err != nil {
			return
		}
	}
}

// write makes a line of text. If an output cannot be opened now, the others
// still get it; if none can, standard error does.
func (o *orders) write(text *crashtext.Text) {
	c := o.Config.withDefaults()
	c.lambda, c.apart = o.Lambda, true
	outputs, err := openOutputs(&c)
	if err != nil {
		writeError(err)
	}
	if len(outputs) == 0 {
		c.Output = []string{toStderr}
		outputs, _ = openOutputs(&c)
	}
	l, key := withoutStackKey(c.layout())
	c.Options = []nib.Option{nib.WithLayout(l)}
	writeCrash(newLogger(&c, outputs), key, o.PID, text)
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	if err := closeAll(ctx, outputs, c.Timeout); err != nil {
		writeError(err)
	}
}

// sharesStandardError reports whether the runtime writes a crash to the output
// with a scheme.
func sharesStandardError(scheme string) bool {
	if scheme != toStdout {
		return scheme == toStderr
	}
	a, err := os.Stdout.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stderr.Stat()
	return err == nil && os.SameFile(a, b)
}
