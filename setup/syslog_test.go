// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/sink/spool"
)

// A service configured by one variable delivers to a receiver, and leaves
// nothing in its spool.
func TestSyslogByEnvironment(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer l.Close()
	frames := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			frames <- err.Error()
			return
		}
		defer conn.Close()
		text, _ := io.ReadAll(conn) // until the service closes
		frames <- string(text)
	}()
	dir := t.TempDir()
	t.Setenv("NIB_OUTPUT", "syslog+tcp://"+l.Addr().String()+"?facility=local0&app=shop&spool="+dir)
	log, err := setup.Open(setup.FromEnv("NIB"), setup.Config{Signals: setup.SwitchOff, Timeout: 2 * time.Minute})
	must.Succeed(t, err)
	log.Warn().Int("n", 1).Msg("m")
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	if got := <-frames; !strings.Contains(got, "<132>1 ") || !strings.Contains(got, " shop ") || !strings.Contains(got, `"n":1,"message":"m"}`) {
		t.Errorf("got %q, want a message of local0", got)
	}
	slots, err := spool.Find(dir)
	if err != nil || len(slots) != 1 {
		t.Fatalf("got spools %q, %v", slots, err)
	}
	if v, err := spool.Inspect(slots[0]); err != nil || v.Pending("destination") != 0 {
		t.Errorf("got %+v, %v, want nothing pending", v, err)
	}
}
