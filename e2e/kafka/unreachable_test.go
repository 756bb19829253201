// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/sink/spool"
)

// TestUnreachableBrokersAreReportedByDefault starts services that have set
// nothing, and whose broker is down or does not answer: within 5 s that is
// reported on standard error, with the size of the backlog.
func TestUnreachableBrokersAreReportedByDefault(t *testing.T) {
	const brokerVar = "NIB_E2E_UNREACHABLE"
	if broker := os.Getenv(brokerVar); broker != "" {
		logTo(t, broker)
		return
	}
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, and never answers
	must(t, err)
	defer deaf.Close()
	const refused = "127.0.0.1:1" // no server uses this port
	for name, broker := range map[string]string{"refused": refused, "no answer": deaf.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestUnreachableBrokersAreReportedByDefault$")
			cmd.Env = append(os.Environ(), brokerVar+"="+broker)
			stderr, err := cmd.StderrPipe()
			must(t, err)
			must(t, cmd.Start())
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
			if !strings.HasPrefix(line, "nib/spool: deliver to destination: ") || !strings.Contains(line, " lines wait, of up to ") {
				t.Errorf("got %q", line)
			}
		})
	}
}

// logTo runs the service.
func logTo(t *testing.T, broker string) {
	d, err := kafka.New([]string{broker}, "logs", kafka.Config{})
	must(t, err)
	s, err := spool.Open("", d, spool.Config{})
	must(t, err)
	log := nib.NewSink(s)
	fmt.Fprintln(os.Stderr, "logged")
	for n := range 7 {
		log.Info().Int("n", n).Msg("line")
	}
	select {}
}
