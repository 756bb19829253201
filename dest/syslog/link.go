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

// ticks is how often per Config.Timeout a link looks whether the receiver is
// alive.
const ticks = 12

// A link is one connection. As a net.Conn it is what TLS runs on: its Write
// waits for room, and its Read for data, as long as the receiver seems to be
// alive, so that its callers never see a deadline. (A write of TLS that has
// seen one must not be followed by another.)
//
// One goroutine writes, another one reads, and either may find that the
// connection has failed; the first reason counts. A link that has failed is
// never used again.
type link struct {
	net.Conn // the socket

	way      way
	stream   net.Conn       // what messages are written to: the link, or TLS on top of it
	done     chan struct{}  // closed when the goroutine that reads has ended
	grace    time.Duration  // how long the receiver gets to refuse the certificate
	failures *atomic.Uint64 // counts them

	timeout      time.Duration // as in Config
	tick         time.Duration // how long Write and Read wait at a time
	writeTimeout time.Duration // how long Write waits for room in all
	discard      bool          // what is not acknowledged will be sent again, so the system need not try any more

	// probe asks the system whether something was sent that the receiver's
	// system has not acknowledged, and how long ago it has acknowledged
	// anything. It is nil where that cannot be asked.
	probe func() (waiting bool, age time.Duration)

	// quickAck has the system acknowledge at once what was read, and not wait
	// for data to send along; nil where it cannot.
	quickAck func()

	ctx      atomic.Pointer[context.Context] // ends Write: that of the Deliver under way, or of the last one
	ending   atomic.Bool                     // by Close: Write waits for one tick at most
	watching atomic.Bool                     // Read has a deadline
	failure  atomic.Pointer[error]

	unanswered time.Time // of look: since when something is; zero: nothing is
}

// newLink makes a link of a connection that has just been made.
func newLink(conn net.Conn, c *Config) *link {
	l := &link{Conn: conn, done: make(chan struct{}), timeout: c.Timeout, writeTimeout: c.Stall, tick: c.Timeout / ticks}
	l.stream = l
	if conn, ok := conn.(*net.TCPConn); ok {
		if l.probe, l.quickAck = control(conn); l.probe == nil {
			l.writeTimeout = c.Timeout
		}
		_ = conn.SetKeepAliveConfig(keepAlive(c.Timeout))
	}
	return l
}

// keepAlive finds a receiver that is gone while nothing is under way: after
// less than timeout, if that is more than two seconds, the least that systems
// know of. One question has to do where there is no time for two; to connect
// again in vain loses nothing then.
func keepAlive(timeout time.Duration) net.KeepAliveConfig {
	seconds := int(timeout / time.Second)
	pause := max((seconds-1)/3, 1)
	count := 2
	if pause*(1+count) >= seconds {
		count = 1
	}
	return net.KeepAliveConfig{Enable: true, Idle: time.Duration(pause) * time.Second, Interval: time.Duration(pause) * time.Second, Count: count}
}

// fail gives the link up for a reason, unless it has failed before.
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

// err returns why the link has failed, or nil.
func (l *link) err() error {
	if p := l.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// Write writes all of b, or fails the link and returns how much it has written.
// It waits for room as long as some is made within writeTimeout, and ctx
// lasts.
func (l *link) Write(b []byte) (n int, err error) {
	var since time.Time     // when there was no room
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

// fullPause is how long to wait when the system has no memory for a datagram.
// (Some say so, too, when the receiver's queue is full.)
const fullPause = time.Millisecond

// Read waits for data as long as the receiver is alive.
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

// expectAnswer has Read look after a tick whether what has been written was
// acknowledged.
func (l *link) expectAnswer() {
	if l.probe != nil && l.watching.CompareAndSwap(false, true) {
		_ = l.SetReadDeadline(time.Now().Add(l.tick)) // of a closed socket: Read ends without
	}
}

// look finds out whether the receiver's system has answered since the last
// look. If there is nothing to be answered, Read may wait without a deadline.
// It is called by Read.
//
// TCP_USER_TIMEOUT would be simpler and is wrong here: it ends connections to
// receivers that are alive and have stopped reading for a while, as rsyslog
// does when it is configured not to lose anything, and discards what they would
// have read later.
func (l *link) look(now time.Time) error {
	waiting, age := l.probe()
	if !waiting {
		_ = l.SetReadDeadline(time.Time{})
		l.watching.Store(false)
		l.unanswered = time.Time{}
		if waiting, _ = l.probe(); !waiting {
			return nil // the next Write sets a deadline
		}
		l.watching.Store(true) // a Write that came in between may have set none
	}
	if now.Add(-age).After(l.unanswered) {
		l.unanswered = now
	}
	if now.Sub(l.unanswered) >= l.timeout-2*l.tick {
		return ErrSilent
	}
	return l.SetReadDeadline(now.Add(l.tick))
}

// isTimeout reports whether a deadline has passed.
func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout() && !errors.Is(err, syscall.ETIMEDOUT)
}

// cancelled returns why Deliver must end, or nil.
func (l *link) cancelled() error {
	if ctx := l.ctx.Load(); ctx != nil {
		return context.Cause(*ctx)
	}
	return nil
}
