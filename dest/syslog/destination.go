// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// A Destination sends records to a syslog receiver. It is made by [New]. Calls of
// Deliver do not overlap; Ping, Stats and Close may be called at any time.
type Destination struct {
	config        Config
	network, addr string
	tls           *tls.Config // nil: none
	way           way
	grace         time.Duration // minGrace, but in tests

	base     context.Context // ends with Close
	end      context.CancelFunc
	link     atomic.Pointer[link] // nil: none yet; what has failed is replaced
	counters counters

	turn chan struct{} // full while Deliver or Ping, or Close at the end, uses the rest
	encoder
	buf     []byte // frames to be written
	ends    []end  // of the frames in buf
	most    int    // records that a stream is given at a time; 0: any number
	session *session
	order   []int // of records that RELP is given
	timer   *time.Timer
}

var (
	_ delivery.Destination = (*Destination)(nil)
	_ delivery.Pinger      = (*Destination)(nil)
)

// A way is how messages are put on the wire.
type way int

const (
	datagrams way = iota // one each
	counted              // a stream with octet counting
	relp
)

// networks are those that New knows.
var networks = map[string]struct {
	socket string // of package net
	tls    bool
	way    way
}{
	"unixgram": {"unixgram", false, datagrams},
	"unix":     {"unix", false, counted},
	"tcp":      {"tcp", false, counted},
	"tls":      {"tcp", true, counted},
	"relp":     {"tcp", false, relp},
	"relp+tls": {"tcp", true, relp},
}

// New makes a Destination for a receiver: network is unixgram, unix, tcp, tls, relp
// or relp+tls, and addr is a path or host:port. New does not connect, and starts no
// goroutine: its errors are faults of the arguments. Deliver connects, and connects
// again after a failure, so a program starts while its receiver is down. Each
// connection of a stream has a goroutine.
func New(network, addr string, c Config) (*Destination, error) {
	n, ok := networks[network]
	if !ok {
		return nil, fmt.Errorf("nib/syslog: unknown network %q (unixgram, unix, tcp, tls, relp, relp+tls)", network)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := &Destination{config: c.withDefaults(), network: network, addr: addr, way: n.way, grace: minGrace, turn: make(chan struct{}, 1)}
	if err := checkAddress(n.socket, addr); err != nil {
		return nil, err
	}
	if n.tls {
		var err error
		if d.tls, err = c.tlsConfig(addr); err != nil {
			return nil, err
		}
	} else if c.TLS != nil {
		return nil, fmt.Errorf("nib/syslog: the Config has TLS, and network %s has not", network)
	}
	d.encoder = *newEncoder(&d.config)
	d.base, d.end = context.WithCancel(context.Background())
	d.timer = time.NewTimer(time.Hour)
	return d, nil
}

// checkAddress finds what can never be connected to.
func checkAddress(socket, addr string) error {
	if socket != "tcp" {
		if addr == "" || len(addr) > maxSocketPath {
			return fmt.Errorf("nib/syslog: %q is not a path of 1 to %d bytes", addr, maxSocketPath)
		}
		return nil
	}
	if _, port, _ := net.SplitHostPort(addr); port == "" { // as with an error
		return fmt.Errorf("nib/syslog: %q is not host:port", addr)
	}
	return nil
}

// maxSocketPath is the room for a path in a sockaddr_un of Linux, less the NUL
// at its end.
const maxSocketPath = 107

// Deliver sends the records of batch, connecting first if need be, and says how many of
// them are settled. With RELP that are those the receiver has acknowledged. With
// the others it is what the socket has taken, which is not delivery. When the
// receiver ends the connection or falls silent meanwhile, nothing of this batch counts as
// settled there: it comes twice rather than never.
//
// Records that are too long, or that the receiver has refused three times, are rejected.
// After an error the connection is a new one, and the next call goes on. There is no
// pause between attempts here; the spool makes them.
//
// Deliver ends with an error when ctx does, or Close is called, within a twelfth of
// Config.Timeout. It does not keep batch. 0 allocs per record, once the buffers
// have grown.
func (d *Destination) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if len(batch) == 0 {
		return delivery.Result{}, nil
	}
	d.turn <- struct{}{}
	defer d.release()
	l, err := d.connected(ctx)
	if err != nil {
		return delivery.Result{}, d.wrap(err)
	}
	l.ctx.Store(&ctx)
	var res delivery.Result
	switch d.way {
	case datagrams:
		res, err = d.deliverDatagrams(l, batch)
	case counted:
		res, err = d.deliverStream(l, batch)
	default:
		res, err = d.deliverRELP(ctx, l, batch)
	}
	d.counters.accepted.Add(uint64(res.Accepted - len(res.Rejected)))
	d.counters.rejected.Add(uint64(len(res.Rejected)))
	if cap(d.buf) > keepSize {
		d.buf = nil
	}
	if err != nil {
		l.fail(err)
		err = l.err()
		return res, d.wrap(plain(err))
	}
	return res, nil
}

// Ping connects if there is no connection, with the TLS handshake and the opening
// of RELP, and sends no message. It returns nil if there is a connection. While
// Deliver is under way it waits for that, as long as ctx allows.
func (d *Destination) Ping(ctx context.Context) error {
	select {
	case d.turn <- struct{}{}:
		defer d.release()
	case <-d.base.Done():
		return d.wrap(delivery.ErrClosed)
	case <-ctx.Done():
		return d.wrap(context.Cause(ctx))
	}
	if _, err := d.connected(ctx); err != nil {
		return d.wrap(err)
	}
	return nil
}

func (d *Destination) release() { <-d.turn }

// keepSize bounds the buffers that wait for the next batch. It is more than what is
// written at once, and less than one huge line.
const keepSize = 1 << 20

// connected returns the link, a new one if there is none or it has failed.
func (d *Destination) connected(ctx context.Context) (*link, error) {
	if d.base.Err() != nil {
		return nil, delivery.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if l := d.link.Load(); l != nil {
		if l.err() == nil {
			return l, nil
		}
		<-l.done
	}
	l, err := d.connect(ctx)
	if err != nil {
		d.counters.refused.Add(1)
		if d.base.Err() != nil {
			err = delivery.ErrClosed
		}
		return nil, err
	}
	d.counters.connects.Add(1)
	if d.base.Err() != nil { // Close may not have seen this link
		l.fail(delivery.ErrClosed)
		return nil, delivery.ErrClosed
	}
	return l, nil
}

// Close ends the connection, after a goodbye if RELP and TLS have one, for which it waits up to
// Config.Timeout, and interrupts a Deliver that is under way. Deliver fails afterwards. No goroutine is left. Closing again does
// nothing.
func (d *Destination) Close() error {
	d.end()
	select {
	case d.turn <- struct{}{}:
	default:
		if l := d.link.Load(); l != nil {
			l.fail(delivery.ErrClosed)
		}
		d.turn <- struct{}{}
	}
	defer d.release()
	l := d.link.Load()
	if l == nil {
		return nil
	}
	if l.err() == nil {
		d.goodbye(l)
	}
	l.fail(delivery.ErrClosed)
	<-l.done
	return nil
}

// goodbye ends the session of a link that works and has nothing under way.
func (d *Destination) goodbye(l *link) {
	l.ending.Store(true)
	if d.way == relp {
		d.session.close(l)
	}
	if t, ok := l.stream.(*tls.Conn); ok {
		_ = t.CloseWrite()
	}
}

// isOurs tells whether it was us who gave up, and not the receiver or the network.
func (l *link) isOurs(err error) bool {
	return errors.Is(err, delivery.ErrStalled) || errors.Is(err, delivery.ErrClosed) || l.cancelled() != nil
}
