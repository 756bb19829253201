// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// A Destination sends records to a syslog receiver. It is created by [New].
// Deliver must not be called concurrently; Ping, Stats and Close may be called
// at any time.
type Destination struct {
	config        Config
	network, addr string
	grace         time.Duration // minGrace, except in tests

	base     context.Context // ends with Close
	end      context.CancelFunc
	link     atomic.Pointer[link] // nil before the first one; a failed link is replaced
	counters counters

	turn chan struct{} // full while Deliver, Ping or the end of Close uses the rest
	encoder
	buf      []byte         // frames to be written
	ends     []end          // ends of the frames in buf
	sizes    []size         // of the records of the batch
	most     map[uint64]int // by Spool: records sent to a stream at a time, if limited
	session  *session
	order    []int // indexes of the records to send with RELP
	tlsFault error // of reading the files of TLS again, until Deliver returns it
	refusals refusals
	timer    *time.Timer
}

var (
	_ delivery.Destination = (*Destination)(nil)
	_ delivery.Pinger      = (*Destination)(nil)
)

// A way is a way to frame messages.
type way int

const (
	counted   way = iota // a stream with octet counting
	datagrams            // one datagram per message
	relp
)

// networks lists the networks that New accepts.
var networks = map[string]struct {
	socket string // network name of package net
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

// New returns a Destination for a receiver. network is unixgram, unix, tcp,
// tls, relp or relp+tls, and addr is host:port or a path, which stays the same
// file when the working directory changes. New does not connect
// and starts no goroutine; it fails only if an argument is invalid. Deliver
// connects, and reconnects after a failure, so a program can start while its
// receiver is down. Each stream connection has one goroutine. With unix, each
// new connection is a stream, or datagrams if the socket accepts only those.
func New(network, addr string, c Config) (*Destination, error) {
	n, ok := networks[network]
	if !ok {
		return nil, fmt.Errorf(
			"nib/syslog: unknown network %q (unixgram, unix, tcp, tls, relp, relp+tls)", network)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	addr, err := absolute(n.socket, addr)
	if err != nil {
		return nil, err
	}
	d := &Destination{config: c.withDefaults(), network: network, addr: addr, grace: minGrace,
		turn: make(chan struct{}, 1)}
	if err := checkAddress(n.socket, addr); err != nil {
		return nil, err
	}
	if n.tls {
		if d.config.TLS, err = c.tlsConfig(addr); err != nil {
			return nil, err
		}
	} else if c.TLS != nil {
		return nil, fmt.Errorf("nib/syslog: Config.TLS is set, but network %s does not use TLS",
			network)
	}
	d.encoder = *newEncoder(&d.config)
	d.most, d.refusals.cuts = map[uint64]int{}, map[uint64]cuts{}
	d.base, d.end = context.WithCancel(context.Background())
	d.timer = time.NewTimer(time.Hour)
	return d, nil
}

// absolute returns the absolute path of a socket; an abstract one, with an @,
// has none.
func absolute(socket, addr string) (string, error) {
	if socket == "tcp" || addr == "" || addr[0] == '@' {
		return addr, nil
	}
	path, err := filepath.Abs(addr)
	if err != nil {
		return "", fmt.Errorf("nib/syslog: %w", err)
	}
	return path, nil
}

// checkAddress returns an error for an address that can never be connected to.
func checkAddress(socket, addr string) error {
	if socket != "tcp" {
		if addr == "" || len(addr) > maxSocketPath {
			return fmt.Errorf("nib/syslog: %q is not a path of 1 to %d bytes", addr, maxSocketPath)
		}
		return nil
	}
	if _, port, _ := net.SplitHostPort(addr); port == "" { // an error leaves port empty as well
		return fmt.Errorf("nib/syslog: %q is not host:port", addr)
	}
	return nil
}

// maxSocketPath is the maximum length of a path in a sockaddr_un of Linux,
// without the NUL at its end.
const maxSocketPath = 107

// Deliver sends the records of batch, connecting first if necessary, and
// returns the number of settled records. With RELP these are the records that
// the receiver has acknowledged. With other networks they are those that the
// socket has accepted, which is not delivery. If such a receiver closes the
// connection or stops responding during the call, no record of the batch counts
// as settled: records are duplicated rather than lost.
//
// Records that are too long, or that the receiver has refused three times while
// it accepts others, are rejected. After an error the next call uses a new
// connection. Deliver does not pause between attempts; the spool does. Errors
// wrap [delivery.ErrClosed], [delivery.ErrStalled] and the errors of packages
// net, syscall and tls, with the network and the address in front.
// [delivery.ErrTooLarge] is the Reason of a rejected record whose line exceeds
// Config.MaxSize and was not or could not be truncated, or exceeds the system's
// limit for a datagram.
//
// Deliver returns an error within a twelfth of Config.Timeout after ctx ends or
// Close is called. It does not retain batch. It does not allocate per record
// once the buffers have grown.
func (d *Destination) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if len(batch) == 0 {
		return delivery.Result{}, nil
	}
	if err := d.acquire(ctx); err != nil {
		return delivery.Result{}, d.wrap(err)
	}
	defer d.release()
	res, err := d.deliver(ctx, batch)
	if d.tlsFault != nil {
		err = errors.Join(err, d.wrap(d.tlsFault))
		d.tlsFault = nil
	}
	return res, err
}

// deliver is Deliver with the turn.
func (d *Destination) deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	l, err := d.connected(ctx)
	if err != nil {
		return delivery.Result{}, d.wrap(err)
	}
	l.ctx.Store(&ctx)
	d.sizes = append(d.sizes[:0], make([]size, len(batch)+1)...) // and the witness
	var res delivery.Result
	switch l.way {
	case datagrams:
		res, err = d.deliverDatagrams(l, batch)
	case counted:
		res, err = d.deliverStream(l, batch)
	default:
		res, err = d.deliverRELP(ctx, l, batch)
	}
	d.count(res)
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

// A size is the size of the message of a record.
type size struct {
	bytes     int
	shortened bool
}

// count counts the settled records of the batch: of each record, only the last
// time that it was sent.
func (d *Destination) count(res delivery.Result) {
	for _, r := range res.Rejected {
		d.sizes[r.Index] = size{}
	}
	var bytes, shortened uint64
	for _, s := range d.sizes[:res.Accepted] {
		bytes += uint64(s.bytes)
		if s.shortened {
			shortened++
		}
	}
	d.counters.bytes.Add(bytes)
	d.counters.shortened.Add(shortened)
	d.counters.accepted.Add(uint64(res.Accepted - len(res.Rejected)))
	d.counters.rejected.Add(uint64(len(res.Rejected)))
}

// Ping connects if there is no connection, including the TLS handshake and the
// opening of the RELP session, and sends no message. It returns nil if there is
// a connection. It waits for a running Deliver as long as ctx allows.
func (d *Destination) Ping(ctx context.Context) error {
	if err := d.acquire(ctx); err != nil {
		return d.wrap(err)
	}
	defer d.release()
	if _, err := d.connected(ctx); err != nil {
		return d.wrap(err)
	}
	return nil
}

// acquire takes the turn. It waits as long as ctx and Close allow.
func (d *Destination) acquire(ctx context.Context) error {
	select {
	case d.turn <- struct{}{}:
		return nil
	case <-d.base.Done():
		return delivery.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *Destination) release() { <-d.turn }

// keepSize is the maximum size of a buffer that is kept for the next batch. It
// is larger than a single write, but smaller than a huge line.
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

// Close closes the connection, after ending a RELP or TLS session in up to
// Config.Timeout, and interrupts a running Deliver. Later calls of Deliver
// fail. No goroutine is left. Closing again does nothing.
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
		d.endSession(l)
	}
	l.fail(delivery.ErrClosed)
	<-l.done
	return nil
}

// endSession ends the session of a working link with nothing in flight.
func (d *Destination) endSession(l *link) {
	l.ending.Store(true)
	if l.way == relp {
		d.session.close(l)
	}
	if t, ok := l.stream.(*tls.Conn); ok {
		_ = t.CloseWrite()
	}
}

// isOurs reports whether this side gave up, and not the receiver or the
// network.
func (l *link) isOurs(err error) bool {
	cause := l.cancelled()
	return errors.Is(err, delivery.ErrStalled) || errors.Is(err, delivery.ErrClosed) ||
		cause != nil && errors.Is(err, cause)
}
