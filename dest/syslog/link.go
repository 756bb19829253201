// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nib-log/nib/delivery"
)

// ticks is the number of times per Config.Timeout that a link checks whether
// the receiver is alive.
const ticks = 12

// A link is one connection. As a net.Conn it is the transport of TLS: its Write
// waits for room, and its Read for data, while the receiver seems to be alive,
// so that its callers never see a deadline. (After a TLS write that has
// exceeded a deadline, further writes fail.)
//
// One goroutine writes, another one reads, and either may detect that the
// connection has failed; the first reason is kept. A failed link is never used
// again.
type link struct {
	net.Conn // the socket

	way      way
	stream   net.Conn       // carries messages: the link, or TLS on top of it
	done     chan struct{}  // closed when the goroutine that reads has ended
	grace    time.Duration  // how long the receiver may take to reject the certificate
	failures *atomic.Uint64 // counter of failures

	timeout      time.Duration // Timeout of Config
	tick         time.Duration // how long one Write or Read waits
	writeTimeout time.Duration // how long Write waits for room in total
	// Unacknowledged data will be sent again, so the system may discard it.
	discard bool

	// probe returns what the system knows about the receiver. It is nil if the
	// system does not provide that.
	probe func() peerState

	// quickAck makes the system acknowledge the data read at once, instead of
	// waiting for data to send along; nil where it cannot.
	quickAck func()

	ctx      atomic.Pointer[context.Context] // of the current or last Deliver; ends Write
	ending   atomic.Bool                     // set by Close: Write waits for at most one tick
	watching atomic.Bool                     // Read has a deadline
	failure  atomic.Pointer[error]

	unanswered time.Time // used by look: time since which data is unacknowledged; zero: none is
}

// A peerState is what the local system knows about the receiver's one.
type peerState struct {
	waiting bool          // it has not acknowledged all data
	unsent  bool          // there is data that it has no room for
	age     time.Duration // how long ago it last acknowledged any
}

// newLink makes a link of a new connection.
func newLink(conn net.Conn, c *Config) *link {
	l := &link{Conn: conn, done: make(chan struct{}), timeout: c.Timeout, writeTimeout: c.Stall,
		tick: c.Timeout / ticks}
	l.stream = l
	if conn, ok := conn.(*net.TCPConn); ok {
		if l.probe, l.quickAck = control(conn); l.probe == nil {
			l.writeTimeout = c.Timeout
		}
		_ = conn.SetKeepAliveConfig(keepAlive(c.Timeout))
	}
	return l
}

// keepAlive detects a receiver that is gone while nothing is in flight: after
// less than timeout, but at least two seconds, the minimum of systems.
// If there is no time for two probes, it uses one; an unnecessary reconnect
// loses nothing.
func keepAlive(timeout time.Duration) net.KeepAliveConfig {
	seconds := int(timeout / time.Second)
	pause := max((seconds-1)/3, 1)
	count := 2
	if pause*(1+count) >= seconds {
		count = 1
	}
	return net.KeepAliveConfig{Enable: true, Idle: time.Duration(pause) * time.Second,
		Interval: time.Duration(pause) * time.Second, Count: count}
}

// fail marks the link as failed with the error err, unless it has failed
// before.
func (l *link) fail(err error) {
	if !l.failure.CompareAndSwap(nil, &err) {
		return
	}
	if err != delivery.ErrClosed && !l.ending.Load() {
		l.failures.Add(1)
	}
	if t, ok := l.Conn.(*net.TCPConn); ok && l.discard {
		_ = t.SetLinger(0)
	}
	_ = l.Conn.Close()
}

// err returns the reason why the link has failed, or nil.
func (l *link) err() error {
	if p := l.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// Write writes all of b, or fails the link and returns the number of bytes it
// has written. It waits as long as some room becomes free within each
// writeTimeout, until ctx ends.
func (l *link) Write(b []byte) (n int, err error) {
	var since time.Time     // time since which there is no room
	if l.way != datagrams { // deliverDatagrams sets one deadline for the batch
		if err := l.SetWriteDeadline(time.Now().Add(l.tick)); err != nil {
			return 0, err
		}
	}
	for {
		m, err := l.Conn.Write(b[n:])
		n += m
		if err == nil {
			l.expectAnswer()
			return n, nil
		}
		full := errors.Is(err, syscall.ENOBUFS)
		if !isTimeout(err) && !full {
			return n, err
		}
		now := time.Now()
		switch {
		case l.cancelled() != nil:
			return n, l.cancelled()
		case m > 0 || since.IsZero():
			since = now
		case l.ending.Load() || now.Sub(since) >= l.writeTimeout:
			return n, delivery.ErrStalled
		}
		if full {
			time.Sleep(fullPause)
		}
		l.expectAnswer()
		if err := l.SetWriteDeadline(now.Add(l.tick)); err != nil {
			return n, err
		}
	}
}

// fullPause is the time to wait when the system has no memory for a datagram.
// (Some systems return the same error when the receiver's queue is full.)
const fullPause = time.Millisecond

// Read waits for data while the receiver is alive.
func (l *link) Read(b []byte) (int, error) {
	for {
		n, err := l.Conn.Read(b)
		if n > 0 || !isTimeout(err) {
			return n, err
		}
		if err := l.look(time.Now()); err != nil {
			return 0, err
		}
	}
}

// expectAnswer makes Read check after a tick whether the data written was
// acknowledged.
func (l *link) expectAnswer() {
	if l.probe != nil && l.watching.CompareAndSwap(false, true) {
		// Fails only for a closed socket: then Read ends anyway.
		_ = l.SetReadDeadline(time.Now().Add(l.tick))
	}
}

// look checks whether the receiver's system has responded since the last call.
// If no response is outstanding, Read may wait without a deadline. Read calls
// it.
//
// While the receiver has no room, the system asks it from time to time, and
// sends no keep-alive probes. Between two questions no response is outstanding,
// so look continues as long as there is unsent data.
//
// TCP_USER_TIMEOUT would be simpler, but is wrong here: it ends connections to
// receivers that are alive but have stopped reading for a while, as rsyslog
// does when it is configured to lose nothing, and discards messages that they
// would have read later.
func (l *link) look(now time.Time) error {
	peer := l.probe()
	if !peer.waiting && !peer.unsent {
		_ = l.SetReadDeadline(time.Time{})
		l.watching.Store(false)
		l.unanswered = time.Time{}
		if peer = l.probe(); !peer.waiting && !peer.unsent {
			return nil // the next Write sets a deadline
		}
		l.watching.Store(true) // a concurrent Write may have set none
	}
	if !peer.waiting || now.Add(-peer.age).After(l.unanswered) {
		l.unanswered = now
	}
	if now.Sub(l.unanswered) >= l.timeout-2*l.tick {
		return errSilent
	}
	return l.SetReadDeadline(now.Add(l.tick))
}

// isTimeout reports whether a deadline has passed.
func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout() && !errors.Is(err, syscall.ETIMEDOUT)
}

// cancelled returns the reason why Deliver must end, or nil.
func (l *link) cancelled() error {
	if ctx := l.ctx.Load(); ctx != nil {
		return context.Cause(*ctx)
	}
	return nil
}
