// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

// testTimeout is how long a test waits for an event that must occur. It is not
// a limit on latency.
const testTimeout = 2 * time.Minute

// A receiver is a syslog server, which calls handle for its connections.
type receiver struct {
	t       testing.TB
	network string // unix or tcp
	addr    string
	tls     *tls.Config
	handle  func(r *receiver, conn net.Conn) // returns to end the connection

	listener net.Listener
	running  sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond
	conns    map[net.Conn]bool
	accepts  int
	messages []string
	faults   []error
	closes   int // RELP's close
	seen     int // messages that taken has returned
}

func newReceiver(t testing.TB, network string, handle func(*receiver, net.Conn)) *receiver {
	t.Helper()
	r := &receiver{t: t, network: network, addr: "127.0.0.1:0", handle: handle, conns: map[net.Conn]bool{}}
	if network == "unix" {
		r.addr = filepath.Join(t.TempDir(), "socket")
	}
	r.changed = sync.NewCond(&r.mu)
	t.Cleanup(r.stop)
	return r
}

// start listens, on a Unix socket at the same address again after stop.
func (r *receiver) start() *receiver {
	r.t.Helper()
	if r.network == "unix" {
		_ = os.Remove(r.addr)
	}
	l, err := net.Listen(r.network, r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = l.Addr().String()
	r.serve(l)
	return r
}

// serve accepts connections.
func (r *receiver) serve(l net.Listener) {
	if r.tls != nil {
		l = tls.NewListener(l, r.tls)
	}
	r.listener = l
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns[conn] = true
			r.accepts++
			r.mu.Unlock()
			r.changed.Broadcast()
			r.running.Add(1)
			go func() {
				defer r.running.Done()
				r.handle(r, conn)
				_ = conn.Close()
				r.mu.Lock()
				delete(r.conns, conn)
				r.mu.Unlock()
				r.changed.Broadcast()
			}()
		}
	}()
}

// stop ends the server and its connections. Those with unread data are reset.
func (r *receiver) stop() {
	if r.listener == nil {
		return
	}
	_ = r.listener.Close()
	r.listener = nil
	r.cut()
	r.running.Wait()
}

// cut ends the connections.
func (r *receiver) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
}

// got notes a message.
func (r *receiver) got(m string) {
	r.mu.Lock()
	r.messages = append(r.messages, m)
	r.mu.Unlock()
	r.changed.Broadcast()
}

// fault records a protocol error of the client.
func (r *receiver) fault(err error) {
	r.mu.Lock()
	r.faults = append(r.faults, err)
	r.mu.Unlock()
	r.changed.Broadcast()
}

// wait waits until ok, which is called under the lock, returns true.
func (r *receiver) wait(what string, ok func() bool) {
	r.t.Helper()
	late := time.AfterFunc(testTimeout, func() {
		r.mu.Lock()
		r.faults = append(r.faults, errors.New("too late"))
		r.mu.Unlock()
		r.changed.Broadcast()
	})
	defer late.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !ok() {
		if len(r.faults) > 0 {
			r.t.Fatalf("waiting for %s with %d messages: %v", what, len(r.messages), r.faults)
		}
		r.changed.Wait()
	}
}

// lines waits for n messages and returns their texts.
func (r *receiver) lines(n int) []string {
	r.t.Helper()
	r.wait(fmt.Sprintf("%d messages", n), func() bool { return len(r.messages) >= n })
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, m := range r.messages {
		parsed, err := parseMessage(m)
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, parsed.text)
	}
	return lines
}

// readCounted is a handle that reads messages with octet counting.
func readCounted(r *receiver, conn net.Conn) {
	b := bufio.NewReader(conn)
	for {
		m, err := nextCounted(b)
		if err != nil {
			if strings.HasPrefix(err.Error(), "frame") {
				r.fault(err)
			}
			return
		}
		r.got(m)
	}
}

// nextCounted reads a frame of RFC 6587: MSG-LEN SP MSG.
func nextCounted(b *bufio.Reader) (string, error) {
	head, err := b.ReadString(' ')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(head[:len(head)-1])
	if err != nil || head[0] < '1' || head[0] > '9' {
		return "", fmt.Errorf("frame begins with %.40q", head)
	}
	m := make([]byte, n)
	_, err = io.ReadFull(b, m)
	return string(m), err
}

// A queue is a receiver of datagrams.
type queue struct {
	t    testing.TB
	addr string
	conn *net.UnixConn
	buf  []byte
}

func newQueue(t testing.TB) *queue {
	t.Helper()
	q := &queue{t: t, addr: filepath.Join(t.TempDir(), "socket"), buf: make([]byte, 1<<20)}
	q.start()
	t.Cleanup(q.stop)
	return q
}

func (q *queue) start() {
	q.t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: q.addr, Net: "unixgram"})
	if err != nil {
		q.t.Fatal(err)
	}
	q.conn = conn
}

func (q *queue) stop() {
	_ = q.conn.Close()
	_ = os.Remove(q.addr)
}

// line waits for the next message and returns its text.
func (q *queue) line() string {
	q.t.Helper()
	if err := q.conn.SetReadDeadline(time.Now().Add(testTimeout)); err != nil {
		q.t.Fatal(err)
	}
	n, err := q.conn.Read(q.buf)
	if err != nil {
		q.t.Fatal(err)
	}
	m, err := parseMessage(string(q.buf[:n]))
	if err != nil {
		q.t.Fatal(err)
	}
	return m.text
}

// dial makes a Destination that is closed at the end of the test. It waits for
// the receiver up to testTimeout, unless c sets another timeout.
func dial(t testing.TB, network, addr string, c Config) *Destination {
	t.Helper()
	c.Timeout = cmp.Or(c.Timeout, testTimeout)
	c.Stall = cmp.Or(c.Stall, testTimeout)
	c.DialTimeout = cmp.Or(c.DialTimeout, testTimeout)
	d, err := New(network, addr, c)
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// batchOf makes the records from to to-1, whose lines have their numbers.
func batchOf(from, to int) []nib.Record {
	batch := make([]nib.Record, 0, to-from)
	for i := from; i < to; i++ {
		batch = append(batch, record(lineOf(i), i))
	}
	return batch
}

func lineOf(i int) string { return fmt.Sprintf(`{"n":%d,"message":"hello"}`, i) }

func record(line string, seq int) nib.Record {
	return nib.Record{Time: 1795222923123456789, Line: []byte(line + "\n"), Spool: 7, Seq: uint64(seq)}
}

// linesOf returns the lines of batchOf as they arrive.
func linesOf(from, to int) (lines []string) {
	for i := from; i < to; i++ {
		lines = append(lines, lineOf(i))
	}
	return lines
}
