// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/internal/await"
)

// A cable is a link to a network namespace.
type cable struct {
	t         *testing.T
	namespace string
	far       string // the interface in the namespace
	address   string // there
}

func run(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return nil
}

// cables counts the cables, to give each another name: removing one takes the
// system a while.
var cables int

// newCable makes a namespace and a link to it, or skips the test.
func newCable(t *testing.T) *cable {
	t.Helper()
	cables++
	n := os.Getpid()*10 + cables
	c := &cable{t: t, namespace: fmt.Sprintf("nib%d", n), far: fmt.Sprintf("nf%d", n)}
	near := fmt.Sprintf("nn%d", n)
	net := fmt.Sprintf("198.18.%d.", n%250)
	c.address = net + "2"
	if err := run("ip", "netns", "add", c.namespace); err != nil {
		t.Skipf("needs network namespaces: %v", err)
	}
	t.Cleanup(func() { _ = run("ip", "netns", "del", c.namespace) }) // the link goes with it
	for _, args := range [][]string{
		{"ip", "link", "add", near, "type", "veth", "peer", "name", c.far, "netns", c.namespace},
		{"ip", "addr", "add", net + "1/30", "dev", near},
		{"ip", "link", "set", near, "up"},
		{"ip", "-n", c.namespace, "addr", "add", c.address + "/30", "dev", c.far},
		{"ip", "-n", c.namespace, "link", "set", "lo", "up"},
	} {
		if err := run(args...); err != nil {
			t.Skipf("needs virtual links: %v", err)
		}
	}
	c.set("up")
	return c
}

// set sets the remote end up or down. The local end stays up, so TCP is not
// notified.
func (c *cable) set(state string) {
	c.t.Helper()
	if err := run("ip", "-n", c.namespace, "link", "set", c.far, state); err != nil {
		c.t.Fatal(err)
	}
}

// inside runs a command in the namespace.
func (c *cable) inside() []string { return []string{"ip", "netns", "exec", c.namespace} }

// failed waits until a connection has failed, and returns how long that took.
func failed(t *testing.T, d *syslog.Destination, before uint64) time.Duration {
	t.Helper()
	began := time.Now()
	await.Until(t, "the dead link is noticed", func() bool { return d.Stats().Failures > before })
	return time.Since(began)
}

// late is the time within which a dead link must be noticed: 3 s, and a margin
// for a busy machine. The system itself would take a quarter of an hour.
const late = time.Minute

// TestE2EHalfOpen takes the link to the receiver away, so that neither side is
// notified, with lines in flight and without.
func TestE2EHalfOpen(t *testing.T) {
	for _, network := range []string{"relp", "tls", "tcp", "relp+tls"}[:counts(2, 4)] {
		t.Run(network, func(t *testing.T) {
			c := newCable(t)
			config := servers.RsyslogConfig{Queue: direct, Address: c.address, Inside: c.inside()}
			mine := syslog.Config{}
			secure(t, network, c.address, &config, &mine)
			r := start(t, config)
			addr := address(r, network)
			d := dial(t, network, addr, mine)
			v := newService(t, d)
			time.Sleep(300 * time.Millisecond)
			t.Cleanup(func() {
				if t.Failed() {
					self, _ := os.ReadFile(r.Self)
					t.Logf("connection to %s: %+v; rsyslog reports:\n%s", addr, d.Stats(), self)
				}
			})
			await.Until(t, "there is a connection", func() bool { return d.Stats().Connected })
			c.set("down")
			took := failed(t, d, 0)
			c.set("up")
			time.Sleep(time.Second)
			logged := v.stop()
			st := d.Stats()
			c.set("down")
			idle := failed(t, d, st.Failures)
			c.set("up")
			if err := r.Stop(); err != nil {
				t.Error(err)
			}
			got := count(t, r.Out, logged, 0)
			t.Logf("%-8s noticed after %v under load, %v idle; %d lines: %v", network,
				took.Round(time.Millisecond), idle.Round(time.Millisecond), logged, got)
			if took > late || idle > late {
				t.Errorf("noticed after %v and %v, want 3 s", took, idle)
			}
			if strings.HasPrefix(network, "relp") && got.lost > 0 {
				t.Errorf("%d lines are lost, want none", got.lost)
			}
		})
	}
}
