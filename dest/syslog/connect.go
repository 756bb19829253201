// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// connect makes a connection that is ready for messages, and starts the
// goroutine that reads from it.
func (d *Destination) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.DialTimeout)
	defer cancel()
	defer context.AfterFunc(d.base, cancel)()
	conn, way, err := d.dial(ctx)
	if err != nil {
		return nil, plainDial(err)
	}
	opened := false
	defer func() {
		if !opened { // runs also when a function of Config.TLS panics
			_ = conn.Close()
		}
	}()
	l := newLink(conn, &d.config)
	l.way, l.failures = way, &d.counters.failures
	if err := d.open(ctx, l); err != nil {
		return nil, err
	}
	opened = true
	return l, nil
}

// dial connects the socket. A path of the network unix may be a stream or, like
// /dev/log of systemd, a datagram socket; the kind may change when the socket
// is replaced.
func (d *Destination) dial(ctx context.Context) (net.Conn, way, error) {
	dialer := net.Dialer{KeepAlive: -1} // newLink enables keep-alive
	n := networks[d.network]
	conn, err := dialer.DialContext(ctx, n.socket, d.addr)
	if n.socket == "unix" && errors.Is(err, syscall.EPROTOTYPE) {
		conn, err = dialer.DialContext(ctx, "unixgram", d.addr)
		return conn, datagrams, err
	}
	return conn, n.way, err
}

// open does the handshakes that precede the first message, and publishes the
// link.
func (d *Destination) open(ctx context.Context, l *link) error {
	// Ends every wait on the connection.
	stop := context.AfterFunc(ctx, func() { _ = l.Conn.Close() })
	defer stop()
	opened := func(what string, err error) error {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, plain(err))
		}
		return nil
	}
	asked := false
	if d.config.TLS != nil {
		var err error
		if asked, err = d.secure(ctx, l); err != nil {
			return opened("TLS handshake", err)
		}
	}
	switch l.way {
	case datagrams:
		l.writeTimeout = d.config.Timeout
		if u, ok := l.Conn.(*net.UnixConn); ok {
			// A smaller buffer is acceptable.
			_ = u.SetWriteBuffer(max(4*d.config.MaxSize, datagramBuffer))
		}
	case relp:
		l.discard = true
		s, err := openSession(l, d.config.Window)
		what := "RELP open"
		if asked {
			what += " (after the receiver has asked for a TLS certificate)"
		}
		if err := opened(what, err); err != nil {
			return err
		}
		d.session = s
	}
	if !stop() {
		return context.Cause(ctx)
	}
	switch l.way { // a reader would report that the connection is closed
	case datagrams:
		close(l.done)
	case counted:
		go l.drain()
	case relp:
		go d.session.read(l)
	}
	d.link.Store(l)
	if asked && l.way == counted {
		return opened("TLS client certificate", l.awaitRefusal(ctx))
	}
	return nil
}

// secure does the handshake of TLS. It reports whether the receiver may refuse
// the client's certificate after it.
func (d *Destination) secure(ctx context.Context, l *link) (asked bool, err error) {
	c, err := d.currentTLS()
	if err != nil {
		return false, err
	}
	began := time.Now()
	t := tls.Client(l, noteRequest(c, &asked))
	if err := t.HandshakeContext(ctx); err != nil {
		return false, err
	}
	l.stream = t
	l.grace = max(2*time.Since(began), d.grace)
	return asked && t.ConnectionState().Version >= tls.VersionTLS13, nil
}

// currentTLS returns the configuration for a new connection. If its files have
// changed and cannot be used, it is the previous one, and Deliver returns the
// error.
func (d *Destination) currentTLS() (*tls.Config, error) {
	c := d.config
	if c.reload != nil {
		var err error
		if c.TLS, err = c.reload(); err != nil {
			d.tlsFault = err
		}
	}
	return c.tlsConfig(d.addr)
}

// datagramBuffer is the number of unread bytes that the socket may hold.
const datagramBuffer = 1 << 20

// noteRequest returns a configuration that records in asked whether the
// receiver has requested a certificate.
func noteRequest(c *tls.Config, asked *bool) *tls.Config {
	c = c.Clone()
	get := c.GetClientCertificate
	c.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		*asked = true
		if get != nil {
			return get(info)
		}
		for i := range c.Certificates {
			if info.SupportsCertificate(&c.Certificates[i]) == nil {
				return &c.Certificates[i], nil
			}
		}
		return new(tls.Certificate), nil // the receiver decides whether it accepts none
	}
	return c
}

// minGrace is the minimum time for a receiver that has requested a certificate
// to reject it.
const minGrace = 50 * time.Millisecond

// awaitRefusal waits for the time in which a receiver may reject the
// certificate. With TLS 1.3 the handshake ends for the client before the
// receiver has checked the certificate, and data sent until then is lost.
func (l *link) awaitRefusal(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err()
	case <-ctx.Done():
		l.fail(context.Cause(ctx))
		<-l.done
		return l.err()
	case <-time.After(l.grace):
	}
	select {
	case <-l.done: // both were ready if the process was stopped
		return l.err()
	default:
		return nil
	}
}

// drain discards the input of a connection without responses, until the
// connection ends.
func (l *link) drain() {
	defer close(l.done)
	var buf [512]byte
	for {
		if _, err := l.stream.Read(buf[:]); err != nil {
			l.fail(plain(err))
			return
		}
	}
}

// plainDial removes the network and the address from err, because wrap adds
// them.
func plainDial(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return withCall(op)
	}
	return err
}
