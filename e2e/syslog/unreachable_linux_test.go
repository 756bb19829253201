// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/sink/spool"
)

// targetVar is set in the environment of a service with all defaults.
const targetVar = "NIB_E2E_TARGET"

// TestUnreachableReceiverIsReportedByDefault starts services that have set
// nothing, and whose receiver is down in one way or another: within 5 s that is
// reported on standard error, with the size of the backlog.
func TestUnreachableReceiverIsReportedByDefault(t *testing.T) {
	if target := os.Getenv(targetVar); target != "" {
		logTo(t, target)
		return
	}
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, and never answers
	must.Succeed(t, err)
	t.Cleanup(func() { deaf.Close() })
	const refused = "127.0.0.1:1" // no server uses this port
	for _, c := range []struct{ name, target, want string }{
		{"refused", "tcp " + refused, "connection refused"},
		{"relp, refused", "relp " + refused, "connection refused"},
		{"no socket", "unix " + filepath.Join(t.TempDir(), "log"), "no such file"},
		{"no datagram socket", "unixgram " + filepath.Join(t.TempDir(), "log"), "no such file"},
		{"no answer", "relp " + deaf.Addr().String(), "nib/spool: deliver to destination: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^"+"TestUnreachableReceiverIsReportedByDefault"+"$")
			cmd.Env = append(os.Environ(), targetVar+"="+c.target)
			stderr, err := cmd.StderrPipe()
			must.Succeed(t, err)
			must.Succeed(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer hung.Stop()
			r := bufio.NewReader(stderr)
			if line, _ := r.ReadString('\n'); line != "logged\n" {
				t.Fatalf("got %q", line)
			}
			from := time.Now()
			line, _ := r.ReadString('\n')
			took := time.Since(from)
			t.Logf("after %v: %s", took.Round(time.Millisecond), line)
			for _, part := range []string{c.want, " lines wait, of up to ", " bytes, the oldest for "} {
				if !strings.Contains(line, part) {
					t.Errorf("got %q, want %q in it", line, part)
				}
			}
		})
	}
}

// logTo runs the service.
func logTo(t *testing.T, target string) {
	network, address, _ := strings.Cut(target, " ")
	d, err := syslog.New(network, address, syslog.Config{})
	must.Succeed(t, err)
	s, err := spool.Open("", d, spool.Config{})
	must.Succeed(t, err)
	log := nib.NewSink(s)
	fmt.Fprintln(os.Stderr, "logged")
	for n := range 7 {
		log.Info().Int("n", n).Msg("line")
	}
	select {}
}
