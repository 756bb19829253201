// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// deliver delivers a batch. All records must be settled.
func deliver(t testing.TB, d *Destination, batch []nib.Record) {
	t.Helper()
	res, err := d.Deliver(context.Background(), batch)
	if err != nil || res.Accepted != len(batch) || len(res.Rejected) != 0 {
		t.Fatalf("Deliver of %d records: got %+v and error %v", len(batch), res, err)
	}
}

// insist delivers a batch as a spool does, until all of it is settled.
func insist(t testing.TB, d *Destination, batch []nib.Record) {
	t.Helper()
	for deadline := time.Now().Add(testTimeout); len(batch) > 0; {
		res, err := d.Deliver(context.Background(), batch)
		if batch = batch[res.Accepted:]; err != nil && time.Now().After(deadline) {
			t.Fatalf("%d records are not settled: %v", len(batch), err)
		}
	}
}

func TestStreamsArriveInOrder(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			r := newReceiver(t, network, readCounted).start()
			d := dial(t, network, r.addr, Config{})
			for _, cut := range [][2]int{{0, 1}, {1, 3}, {3, 3}, {3, 4000}} {
				deliver(t, d, batchOf(cut[0], cut[1]))
			}
			if got, want := r.lines(4000), linesOf(0, 4000); !slices.Equal(got, want) {
				t.Errorf("got %d lines, want %d in order", len(got), len(want))
			}
			if st := d.Stats(); st.Accepted != 4000 || st.Connects != 1 || !st.Connected {
				t.Errorf("got %+v, want 4000 accepted by one connection", st)
			}
		})
	}
}

func TestReceiverMayBeDownAtFirst(t *testing.T) {
	r := newReceiver(t, "unix", readCounted)
	testDownAtFirst(t, r, func() { r.start() })
}

// testDownAtFirst delivers to a receiver before it is up, and then.
func testDownAtFirst(t *testing.T, r *receiver, up func()) {
	t.Helper()
	d := dial(t, r.network, r.addr, Config{})
	if res, err := d.Deliver(t.Context(), batchOf(0, 3)); err == nil || res.Accepted != 0 {
		t.Fatalf("got %+v and error %v, want an error", res, err)
	}
	up()
	deliver(t, d, batchOf(0, 3))
	if got, want := r.lines(3), linesOf(0, 3); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The end of an idle connection is detected before anything is written to it.
func TestIdleConnectionEnds(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		r := newReceiver(t, network, readCounted).start()
		d := dial(t, network, r.addr, Config{})
		deliver(t, d, batchOf(0, 1))
		r.lines(1)
		l := d.link.Load()
		r.cut()
		<-l.done
		deliver(t, d, batchOf(1, 2))
		if got, want := r.lines(2), linesOf(0, 2); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", network, got, want)
		}
		if st := d.Stats(); st.Connects != 2 || st.Failures != 1 || st.Doubtful != 0 {
			t.Errorf("%s: got %+v, want two connections and one failure", network, st)
		}
	}
}

func TestDatagramsArriveInOrder(t *testing.T) {
	q := newQueue(t)
	d := dial(t, "unixgram", q.addr, Config{})
	const n = 500
	done := make(chan error, 1)
	go func() {
		res, err := d.Deliver(context.Background(), batchOf(0, n))
		if err == nil && res.Accepted != n {
			err = errors.New("not all are accepted")
		}
		done <- err
	}()
	for i := range n {
		if got, want := q.line(), lineOf(i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A datagram socket returns an error after its receiver was replaced, before
// anything is lost.
func TestDatagramReceiverRestarts(t *testing.T) {
	q := newQueue(t)
	d := dial(t, "unixgram", q.addr, Config{})
	deliver(t, d, batchOf(0, 1))
	q.line()
	q.stop()
	if res, err := d.Deliver(context.Background(), batchOf(1, 2)); err == nil || res.Accepted != 0 {
		t.Fatalf("got %+v and error %v, want an error", res, err)
	}
	q.start()
	deliver(t, d, batchOf(1, 2))
	if got, want := q.line(), lineOf(1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDatagramReaderIsFrozen(t *testing.T) {
	q := newQueue(t)
	d := dial(t, "unixgram", q.addr, Config{Timeout: 1200 * time.Millisecond})
	batch := batchOf(0, 5000)
	res, err := d.Deliver(context.Background(), batch)
	if !errors.Is(err, delivery.ErrStalled) || res.Accepted == 0 {
		t.Fatalf("got %d accepted and error %v, want some and delivery.ErrStalled", res.Accepted, err)
	}
	for i := range res.Accepted {
		if got, want := q.line(), lineOf(i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	deliver(t, d, batch[res.Accepted:][:1]) // comes next: nothing more was sent
	if got, want := q.line(), lineOf(res.Accepted); got != want {
		t.Errorf("got another datagram, %q, want %q", got, want)
	}
}

var _ net.Conn = (*link)(nil)

// If the receiver ends the connection after ctx has ended, nothing counts as
// settled: the receiver has not read what the socket has accepted.
func TestReceiverEndsAfterTheContext(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r := newReceiver(t, network, func(_ *receiver, conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, 2*chunk)) // the first chunk was written
			cancel()
		}).start()
		d := dial(t, network, r.addr, Config{Timeout: time.Hour, Stall: time.Hour}) // Write does not look at ctx
		batch := batchOf(0, 2000)
		for i := range batch {
			batch[i].Line = append(append([]byte(`{"fill":"`), bytes.Repeat([]byte{'x'}, 7000)...), "\"}\n"...)
		}
		res, err := d.Deliver(ctx, batch)
		if err == nil || res.Accepted != 0 {
			t.Errorf("%s: got %d accepted and %v, want none", network, res.Accepted, err)
		}
	}
}
