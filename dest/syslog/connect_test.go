// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/usercode"
)

// TestConnectingEnds has receivers that accept connections and never answer:
// ctx, Close and DialTimeout end the attempt with their reason.
func TestConnectingEnds(t *testing.T) {
	for _, network := range []string{"tls", "relp", "relp+tls"} {
		for name, want := range map[string]error{"context": context.Canceled, "Close": delivery.ErrClosed, "DialTimeout": context.DeadlineExceeded} {
			t.Run(network+", "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				arrived, ended := make(chan struct{}), make(chan struct{})
				var c Config
				if strings.HasSuffix(network, "tls") {
					c.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
				}
				end := cancel
				var d *Destination
				switch name {
				case "Close":
					end = func() { _ = d.Close() }
				case "DialTimeout":
					c.DialTimeout, end = 20*time.Millisecond, func() {}
				}
				r := newReceiver(t, "tcp", func(_ *receiver, conn net.Conn) {
					close(arrived)
					_, _ = io.Copy(io.Discard, conn)
					close(ended)
				}).start()
				d = dial(t, network, r.addr, c)
				go func() { <-arrived; end() }()
				err := d.Ping(ctx)
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				if name != "DialTimeout" || strings.Contains(err.Error(), "TLS handshake") || strings.Contains(err.Error(), "RELP open") {
					<-ended // the connection is not left open, if there was time to make it
				}
				if st := d.Stats(); st.Refused != 1 || st.Connects != 0 || st.Failures != 0 {
					t.Errorf("got %+v, want one refused", st)
				}
			})
		}
	}
}

// An unreadConn counts its reads, which find it closed.
type unreadConn struct {
	script
	reads int
}

func (c *unreadConn) Read([]byte) (int, error) { c.reads++; return 0, net.ErrClosed }

// If the context ends when the handshakes are complete, the error is
// the context's, not the error of a reader whose connection was closed.
func TestContextEndsBeforeTheReaderStarts(t *testing.T) {
	d := dial(t, "tcp", "127.0.0.1:1", Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &unreadConn{}
	l := newLink(c, &d.config)
	l.failures = &d.counters.failures
	if err := d.open(ctx, l); !errors.Is(err, context.Canceled) || c.reads != 0 {
		t.Errorf("got %v and %d reads, want %v and none", err, c.reads, context.Canceled)
	}
	if st := d.Stats(); st.Connected || st.Failures != 0 {
		t.Errorf("got %+v, want no connection that could fail", st)
	}
}

// A watchedContext counts the functions registered with it. Package context
// uses its AfterFunc for contexts derived from it.
type watchedContext struct {
	context.Context
	mu   sync.Mutex
	left int
}

func (c *watchedContext) Done() <-chan struct{} { return make(chan struct{}) }

func (c *watchedContext) AfterFunc(func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left++
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.left--
		return true
	}
}

// A spool uses a single context for all deliveries.
func TestConnectingLeavesNothingWithTheContext(t *testing.T) {
	r := newRELP(t, &relpServer{})
	for _, addr := range []string{r.addr, "127.0.0.1:1"} {
		ctx := &watchedContext{Context: t.Context()}
		_ = dial(t, "relp", addr, Config{}).Ping(ctx)
		if ctx.left != 0 {
			t.Errorf("%s: got %d functions left with the context, want none", addr, ctx.left)
		}
	}
}

// The error has the address of the receiver once, and may have the address of
// another server that a function of Config.TLS has dialed.
func TestErrorsOfConnectingNameTheAddressOnce(t *testing.T) {
	const addr = "127.0.0.1:1" // no server uses this port
	if err := dial(t, "tcp", addr, Config{}).Ping(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "nib/syslog: tcp "+addr+": connect") || strings.Count(err.Error(), addr) != 1 {
		t.Errorf("got %v", err)
	}
	a := newAuthority(t)
	r := newSecure(t, "tls", &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}})
	d := dial(t, "tls", r.addr, Config{TLS: &tls.Config{RootCAs: a.pool, VerifyConnection: func(tls.ConnectionState) error {
		_, err := net.Dial("tcp", addr)
		return err
	}}})
	if err := d.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "TLS handshake: ") || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v, want %s in it", err, addr)
	}
}

// Only TLS 1.3 lets a client send before the receiver has checked its
// certificate, and with RELP the response to open is sufficient proof. The
// grace period is longer than the tests may take.
func TestOnlyCertificatesThatMayBeRefusedAreWaitedFor(t *testing.T) {
	a := newAuthority(t)
	client := []tls.Certificate{a.issue(nil)}
	for _, c := range []struct {
		network string
		server  *tls.Config
	}{
		{"tls", &tls.Config{}},
		{"tls", &tls.Config{MaxVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert}},
		{"relp+tls", &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert}},
	} {
		c.server.Certificates, c.server.ClientCAs = []tls.Certificate{a.issue(nil)}, a.pool
		r := newSecure(t, c.network, c.server)
		d := dial(t, c.network, r.addr, Config{TLS: &tls.Config{RootCAs: a.pool, Certificates: client}})
		d.grace = time.Hour
		deliver(t, d, batchOf(0, 3))
	}
	r := newReceiver(t, "tcp", readCounted).start()
	d := dial(t, "tcp", r.addr, Config{})
	d.grace = time.Hour
	deliver(t, d, batchOf(0, 3))
}

// The context may end while the receiver checks the certificate.
func TestContextEndsTheWaitForARefusal(t *testing.T) {
	a := newAuthority(t)
	arrived, ended := make(chan struct{}), make(chan struct{})
	r := newReceiver(t, "tcp", func(_ *receiver, conn net.Conn) {
		_ = conn.(*tls.Conn).Handshake()
		close(arrived)
		_, _ = io.Copy(io.Discard, conn)
		close(ended)
	})
	r.tls = &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, ClientAuth: tls.RequestClientCert}
	r.start()
	d := dial(t, "tls", r.addr, Config{TLS: &tls.Config{RootCAs: a.pool}})
	d.grace = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if err := d.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	<-ended
	if st := d.Stats(); st.Refused != 1 || st.Connects != 0 || st.Connected {
		t.Errorf("got %+v, want one refused", st)
	}
}

// The receiver may end the connection because of the certificate, if it has
// requested one.
func TestErrorOfOpenMentionsTheCertificate(t *testing.T) {
	a := newAuthority(t)
	for _, c := range []struct {
		network string
		auth    tls.ClientAuthType
		want    string
	}{
		{"relp", tls.NoClientCert, ": RELP open: "},
		{"relp+tls", tls.NoClientCert, ": RELP open: "},
		{"relp+tls", tls.RequestClientCert, ": RELP open (after the receiver has asked for a TLS certificate): "},
	} {
		r := newReceiver(t, "tcp", (&relpServer{open: respond(1, "500 no")}).handle)
		var conf Config
		if c.network == "relp+tls" {
			r.tls = &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, ClientAuth: c.auth}
			conf.TLS = &tls.Config{RootCAs: a.pool}
		}
		r.start()
		if err := dial(t, c.network, r.addr, conf).Ping(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q in it", err, c.want)
		}
	}
}

func TestConnectingDoesNotChangeTheConfiguration(t *testing.T) {
	c, asked := new(tls.Config), false
	if noteRequest(c, &asked); c.GetClientCertificate != nil {
		t.Error("the configuration has another GetClientCertificate than before")
	}
}

// The receiver can distinguish the end of the log from a broken connection. TLS
// 1.2 does not hide that a record is an alert.
func TestCloseEndsTLSWithAnAlert(t *testing.T) {
	a := newAuthority(t)
	kinds := make(chan byte, 1)
	r := newReceiver(t, "tcp", func(_ *receiver, conn net.Conn) {
		c := &recorded{Conn: conn}
		_, _ = io.Copy(io.Discard, tls.Server(c, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, MaxVersion: tls.VersionTLS12}))
		_, _ = io.Copy(io.Discard, c)
		var last byte
		for b := c.read; len(b) >= 5; b = b[5+int(b[3])<<8+int(b[4]):] {
			last = b[0]
		}
		kinds <- last
	})
	r.start()
	d := dial(t, "tls", r.addr, Config{TLS: &tls.Config{RootCAs: a.pool}})
	deliver(t, d, batchOf(0, 3))
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if got := <-kinds; got != 21 {
		t.Errorf("got a last record of type %d, want an alert, 21", got)
	}
}

// recorded is a connection that records the bytes read.
type recorded struct {
	net.Conn
	read []byte
}

func (c *recorded) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read = append(c.read, b[:n]...)
	return n, err
}

func TestPingConnectsOnce(t *testing.T) {
	r := newRELP(t, &relpServer{})
	d := dial(t, "relp", r.addr, Config{})
	for range 2 {
		if err := d.Ping(t.Context()); err != nil {
			t.Fatalf("got %v, want nil", err)
		}
	}
	deliver(t, d, batchOf(0, 3))
	if got := d.Stats(); got.Connects != 1 || got.Accepted != 3 {
		t.Errorf("got %+v, want one connection and 3 records", got)
	}
}

func TestPingWithoutReceiver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, network := range []string{"unixgram", "unix"} {
		if err := dial(t, network, path, Config{}).Ping(t.Context()); err == nil {
			t.Errorf("%s: got nil, want an error", network)
		}
	}
}

// Ping must not use the connection while Deliver does.
func TestPingDuringDeliver(t *testing.T) {
	r := newReceiver(t, "unix", readCounted).start()
	d := dial(t, "unix", r.addr, Config{})
	d.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	d.release()
	if err := d.Ping(t.Context()); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Ping(t.Context()); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, delivery.ErrClosed)
	}
}

// TestPanicOfACallbackClosesTheConnection has a TLS configuration whose
// function panics at each attempt, which the spool survives: an attempt must
// not leave a connection behind.
func TestPanicOfACallbackClosesTheConnection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close unreferenced files
	a := newAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer l.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		s := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}})
		for b := make([]byte, 100); err == nil; {
			_, err = s.Read(b) // until the client closes the connection
		}
	}()
	d := dial(t, "tls", l.Addr().String(), Config{TLS: &tls.Config{
		RootCAs: a.pool, VerifyConnection: func(tls.ConnectionState) error { panic("boom") },
	}})
	func() {
		defer func() {
			if text := usercode.PanicText(recover()); text != "boom" {
				t.Errorf("got %q, want the panic of the function", text)
			}
		}()
		_, err := d.Deliver(context.Background(), batchOf(0, 1))
		t.Errorf("got %v", err)
	}()
	<-ended
}
