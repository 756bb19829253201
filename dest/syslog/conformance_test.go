// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibtest"
)

func TestDestination(t *testing.T) {
	for _, network := range []string{"unix", "tcp", "relp"} {
		t.Run(network, func(t *testing.T) {
			nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
				r := newReceiver(t, map[string]string{"unix": "unix", "tcp": "tcp", "relp": "tcp"}[network], readCounted)
				if network == "relp" {
					r.handle = (&relpServer{}).handle
				}
				r.start()
				d := dial(t, network, r.addr, Config{MaxSize: 1 << 20})
				return d, func() [][]byte { return r.taken(d) }
			})
		})
	}
}

// taken waits for the accepted records and returns the new lines.
func (r *receiver) taken(d *Destination) (lines [][]byte) {
	r.t.Helper()
	n := int(d.Stats().Accepted)
	all := r.lines(n)
	for _, line := range all[r.seen:n] {
		lines = append(lines, []byte(line+"\n"))
	}
	r.seen = n
	return lines
}

// Neither Close nor the end of a connection leaves a goroutine behind.
func TestNoGoroutineIsLeft(t *testing.T) {
	r := newRELP(t, &relpServer{})
	d, err := New("relp", r.addr, Config{})
	must.Succeed(t, err)
	deliver(t, d, batchOf(0, 10))
	l := d.link.Load()
	r.cut()
	<-l.done
	deliver(t, d, batchOf(10, 20))
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	s := newReceiver(t, "unix", readCounted).start()
	u, err := New("unix", s.addr, Config{})
	must.Succeed(t, err)
	deliver(t, u, batchOf(0, 10))
	for range 2 {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
	// A goroutine that has closed its done channel may still have to be
	// scheduled to end.
	await.Until(t, "the goroutines of connections have ended", func() bool { return len(ownGoroutines()) == 0 })
}

// ownGoroutines returns the stacks of the goroutines that serve a connection.
func ownGoroutines() (left [][]byte) {
	buf := make([]byte, 1<<20)
	for _, stack := range bytes.Split(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		if bytes.Contains(stack, []byte("syslog.(*link)")) || bytes.Contains(stack, []byte("syslog.(*session)")) {
			left = append(left, stack)
		}
	}
	return left
}

// Close does not wait for a receiver that has stopped reading.
func TestCloseOfAFrozenReceiver(t *testing.T) {
	q := newQueue(t)
	d := dial(t, "unixgram", q.addr, Config{Timeout: testTimeout})
	done := make(chan error)
	go func() {
		_, err := d.Deliver(t.Context(), batchOf(0, 5000))
		done <- err
	}()
	for range 3 {
		q.line()
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), delivery.ErrClosed.Error()) {
		t.Errorf("got error %v, want delivery.ErrClosed", err)
	}
}

func TestDatagramIsTooLong(t *testing.T) {
	q := newQueue(t)
	d := dial(t, "unixgram", q.addr, Config{MaxSize: 1 << 20})
	deliver(t, d, batchOf(0, 1))
	q.line()
	conn := d.link.Load().Conn.(interface{ SetWriteBuffer(int) error })
	must.Succeed(t, conn.SetWriteBuffer(4096))
	batch := batchOf(0, 3)
	batch[1].Line = []byte(`{"a":"` + strings.Repeat("x", 100_000) + "\"}\n")
	res, err := d.Deliver(t.Context(), batch)
	if err != nil || res.Accepted != 3 || len(res.Rejected) != 1 || res.Rejected[0].Index != 1 {
		if runtime.GOOS != "linux" {
			t.Skip("the system takes datagrams of this size, or does not say EMSGSIZE")
		}
		t.Fatalf("got %+v and error %v, want record 1 rejected", res, err)
	}
	for _, i := range []int{0, 2} {
		if got := q.line(); got != lineOf(i) {
			t.Errorf("got %q, want %q", got, lineOf(i))
		}
	}
}

// A missing socket is not an error of the arguments.
func TestSocketIsNotThere(t *testing.T) {
	for _, network := range []string{"unix", "unixgram"} {
		d := dial(t, network, t.TempDir()+"/none", Config{})
		if _, err := d.Deliver(t.Context(), batchOf(0, 1)); !os.IsNotExist(unwrapAll(err)) {
			t.Errorf("%s: got error %v, want that there is no such file", network, err)
		}
	}
}

// unwrapAll returns the innermost error.
func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil {
			return err
		}
		err = u.Unwrap()
	}
}
