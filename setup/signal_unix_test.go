// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

func (p *child) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	must.Succeed(t, p.cmd.Process.Signal(sig))
}

func TestContextEndsWithTheFirstSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, outputs := range []string{"plain", "buffered"} {
			t.Run(sig.String()+"/"+outputs, func(t *testing.T) {
				c, path := plain(t) // which alone does not enable signal handling
				if outputs == "buffered" {
					c, path = buffered(t)
				}
				p := start(t, "context", c)
				p.await(t, "ready")
				p.signal(t, sig)
				ends(t, p, exited(0))
				if want := "nib/setup: received signal: " + sig.String() + "\n"; !strings.HasSuffix(p.errText.String(), want) {
					t.Errorf("got cause %q, want %q", &p.errText, want)
				}
				if n, others := parse(t, read(t, path)); n != 3 || len(others) > 0 {
					t.Errorf("got %d lines and %v, want 3", n, others)
				}
			})
		}
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Run("a program that does not end itself", func(t *testing.T) {
		p := start(t, "context, deaf", Config{})
		p.signalUntil(t, syscall.SIGTERM, "ready")
		p.signal(t, syscall.SIGINT)
		ends(t, p, killed(syscall.SIGINT))
	})
	t.Run("a sink that hangs", func(t *testing.T) {
		p := start(t, "hang without end", Config{Timeout: time.Hour})
		p.await(t, "ready")
		p.signal(t, syscall.SIGTERM)
		p.await(t, "flushing")
		p.signal(t, syscall.SIGINT)
		ends(t, p, killed(syscall.SIGINT))
	})
}

// signalUntil sends the first signal once the process handles signals.
func (p *child) signalUntil(t *testing.T, sig syscall.Signal, want string) {
	t.Helper()
	p.await(t, "handling")
	p.signal(t, sig)
	p.await(t, want)
}

func TestSinkThatHangs(t *testing.T) {
	const want = "nib/setup: output Config.Sinks[0]: not flushed within 5s\n"
	c, path := buffered(t)
	c.Timeout = 5 * time.Second // which must be enough for the file
	t.Run("return", func(t *testing.T) {
		t.Parallel()
		p := start(t, "hang", c)
		ends(t, p, exited(0))
		if !strings.HasSuffix(p.errText.String(), want) {
			t.Errorf("got standard error %q, want %q", &p.errText, want)
		}
		if n, _ := parse(t, read(t, path)); n != 3 {
			t.Errorf("got %d lines from the file, want 3", n)
		}
	})
	t.Run("signal", func(t *testing.T) {
		t.Parallel()
		c, _ := buffered(t)
		c.Timeout = 5 * time.Second
		p := start(t, "hang without end", c)
		p.await(t, "ready")
		p.signal(t, syscall.SIGTERM)
		ends(t, p, killed(syscall.SIGTERM))
		if !strings.HasSuffix(p.errText.String(), want) {
			t.Errorf("got standard error %q, want %q", &p.errText, want)
		}
	})
}

func TestSignalsOff(t *testing.T) {
	c, path := buffered(t)
	c.Signals = SwitchOff
	p := start(t, "wait", c)
	p.await(t, "ready")
	p.signal(t, syscall.SIGTERM)
	ends(t, p, killed(syscall.SIGTERM))
	if n, _ := parse(t, read(t, path)); n != 0 {
		t.Errorf("got %d lines, want none: nothing was flushed", n)
	}
}

func TestHangupReopensFiles(t *testing.T) {
	for _, outputs := range []string{"plain", "buffered"} {
		t.Run(outputs, func(t *testing.T) {
			c, path := plain(t)
			if outputs == "buffered" {
				c, path = buffered(t)
			}
			c.Signals = SwitchOn
			p := start(t, "wait", c)
			p.await(t, "ready")
			must.Succeed(t, os.Rename(path, path+".1"))
			p.signal(t, syscall.SIGHUP)
			await.Until(t, "the file is there again", func() bool { _, err := os.Stat(path); return err == nil })
			p.signal(t, syscall.SIGTERM)
			ends(t, p, killed(syscall.SIGTERM))
			old, now := read(t, path+".1"), read(t, path) // both files exist
			if n, _ := parse(t, old+now); n != 3 {
				t.Errorf("got %d lines in both files, want 3", n)
			}
		})
	}
}

func TestHangupEndsAProcessWithoutFiles(t *testing.T) {
	for name, c := range map[string]Config{
		"no file":         {Output: []string{"stdout?buffer=1KiB"}},
		"switched off":    {Output: []string{"file:" + t.TempDir() + "/app.log"}, Reopen: SwitchOff},
		"nothing handled": {},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "wait", c)
			p.await(t, "ready")
			p.signal(t, syscall.SIGHUP)
			ends(t, p, killed(syscall.SIGHUP))
		})
	}
}

// TestIgnoredSignalsStayIgnored starts a process as nohup does. A shell ignores
// SIGINT for background processes.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	c, path := plain(t) // to whose file nothing more is written, which would make it reopen the file
	c.Signals = SwitchOn
	p := start(t, "wait", c, throughShell(t, `trap "" HUP INT; exec "$0"`))
	p.await(t, "ready")
	must.Succeed(t, os.Rename(path, path+".1"))
	p.signal(t, syscall.SIGHUP)
	p.signal(t, syscall.SIGINT)
	p.signal(t, syscall.SIGTERM)
	ends(t, p, killed(syscall.SIGTERM))
	if _, err := os.Stat(path); err == nil {
		t.Error("SIGHUP had the file reopened")
	}
}

// TestMonitorOutlivesSignals sends signals as killall(1) and service managers
// do, to all processes of a name or control group.
func TestMonitorOutlivesSignals(t *testing.T) {
	c, path := plain(t)
	c.Crash = SwitchOn
	p := start(t, "wait for a panic", c)
	p.await(t, "ready")
	monitor := p.monitorPID(t)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1} {
		must.Succeed(t, syscall.Kill(monitor, sig))
	}
	p.signal(t, syscall.SIGUSR2)
	ends(t, p, exited(2))
	if _, others := parse(t, read(t, path)); len(others) != 1 || others[0].Message != "panic: boom" {
		t.Errorf("got %v, want a panic", others)
	}
}
