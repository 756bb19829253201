// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"os"
	"runtime"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// skipWithoutDatagrams skips a test on systems whose unix sockets are streams
// only.
func skipWithoutDatagrams(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the system has no datagram sockets with a path")
	}
}

// TestUnixConnectsToADatagramSocket delivers to a datagram socket, like
// /dev/log of systemd, without knowing its kind.
func TestUnixConnectsToADatagramSocket(t *testing.T) {
	skipWithoutDatagrams(t)
	q := newQueue(t)
	d := dial(t, "unix", q.addr, Config{})
	must.Succeed(t, d.Ping(t.Context()))
	deliver(t, d, batchOf(0, 3))
	for _, want := range linesOf(0, 3) {
		if got := q.line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if st := d.Stats(); st.Connects != 1 || st.Refused != 0 || !st.Connected {
		t.Errorf("got %+v, want one connection that works", st)
	}
}

// TestUnixFollowsTheKindOfTheSocket replaces a stream receiver by one of
// datagrams and back, at the same path, while the Destination is in use.
func TestUnixFollowsTheKindOfTheSocket(t *testing.T) {
	skipWithoutDatagrams(t)
	r := newReceiver(t, "unix", readCounted).start()
	d := dial(t, "unix", r.addr, Config{})
	deliver(t, d, batchOf(0, 2))
	r.lines(2)
	for round := 1; round <= 3; round++ {
		r.stop()
		_ = os.Remove(r.addr)
		d.awaitEnd(t)
		q := &queue{t: t, addr: r.addr, buf: make([]byte, 1<<16)}
		q.start()
		deliver(t, d, batchOf(0, 2))
		for _, want := range linesOf(0, 2) {
			if got := q.line(); got != want {
				t.Errorf("datagrams: got %q, want %q", got, want)
			}
		}
		q.stop()
		r.start()
		if _, err := d.Deliver(t.Context(), batchOf(0, 1)); err == nil {
			t.Error("the datagram socket is gone: got no error")
		}
		deliver(t, d, batchOf(0, 2))
		if got := r.lines(2 + 2*round); got[len(got)-1] != lineOf(1) {
			t.Errorf("stream: got %q, want %q", got[len(got)-1], lineOf(1))
		}
	}
}

// TestUnixgramIsStrict checks that unixgram does not connect to a stream
// socket: with datagrams no partial line is left.
func TestUnixgramIsStrict(t *testing.T) {
	skipWithoutDatagrams(t)
	r := newReceiver(t, "unix", readCounted).start()
	d := dial(t, "unixgram", r.addr, Config{})
	if err := d.Ping(t.Context()); err == nil {
		t.Error("unixgram connected to a stream socket")
	}
}

// awaitEnd waits until the connection is known to have ended.
func (d *Destination) awaitEnd(t *testing.T) {
	t.Helper()
	<-d.link.Load().done
}
