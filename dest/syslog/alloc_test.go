// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"net"
	"strings"
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
)

// discardAll reads without allocating.
func discardAll(_ *receiver, conn net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

// acceptAll is a RELP server that does not allocate, for commands without line
// feeds.
func acceptAll(_ *receiver, conn net.Conn) {
	in, out := make([]byte, 64<<10), make([]byte, 0, 64<<10)
	head := 0 // how many digits of the TXNR of the current frame are in out; 0: after a line feed
	for {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		for _, c := range in[:n] {
			switch {
			case c == '\n' && head == 2:
				head = 0
				out = append(out, " rsp 6 200 OK\n"...)
			case head == 0 && c != ' ':
				out = append(out, c)
			case head == 0:
				head = 2
			}
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// A batch may take a few allocations, a record none.
func TestRecordsAreNotAllocatedFor(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("this build allocates by itself")
	}
	const records = 1000
	batch := batchOf(0, records)
	for i := range batch {
		batch[i].Logger = "db"
	}
	for network, handle := range map[string]func(*receiver, net.Conn){"unix": discardAll, "tcp": discardAll, "relp": acceptAll} {
		socket := "tcp"
		if network == "unix" {
			socket = "unix"
		}
		r := newReceiver(t, socket, handle).start()
		d := dial(t, network, r.addr, Config{SequenceID: "nib@32473"})
		if network == "relp" {
			c := (Config{}).withDefaults()
			conn, err := net.Dial("tcp", r.addr)
			must.Succeed(t, err)
			l := newLink(conn, &c) // acceptAll does not support open
			l.failures = &d.counters.failures
			d.session = &session{settled: make([]bool, c.Window), wake: make(chan struct{}, 1), base: 1, next: 1}
			d.session.frames = newFrames(l)
			d.use(l)
			go d.session.read(l)
		}
		n, _ := alloctest.Count(func() { deliver(t, d, batch) }, 20)
		t.Logf("%s: %.2f allocations a batch of %d", network, n, records)
		if n > 5 {
			t.Errorf("%s: got %.2f allocations a batch, want 5 at most", network, n)
		}
	}
}

func TestShorteningDoesNotAllocate(t *testing.T) {
	c := (Config{}).withDefaults()
	e := newEncoder(&c)
	r := record(`{"time":"x","a":"`+strings.Repeat("x", 20_000)+`","message":"`+strings.Repeat("y", 20_000)+`"}`, 1)
	alloctest.Zero(t, func() { e.message(&r) })
}

func BenchmarkMessage(b *testing.B) {
	c := (Config{SequenceID: "nib@32473"}).withDefaults()
	e := newEncoder(&c)
	r := record(lineOf(1), 1)
	r.Logger = "db"
	b.ReportAllocs()
	for b.Loop() {
		r.Time += 1000
		e.message(&r)
	}
}
