// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/target"
)

// An authority signs certificates.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.cert, a.key = a.make(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	})
	a.pool.AddCert(a.cert)
	return a
}

// make makes a certificate, self-signed if a has none yet.
func (a *authority) make(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// issue makes a certificate for a server or client. change may be nil.
func (a *authority) issue(change func(*x509.Certificate)) tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"logs.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	cert, key := a.make(template)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// newSecure starts a receiver with TLS for a network.
func newSecure(t testing.TB, network string, c *tls.Config) *receiver {
	t.Helper()
	handle := readCounted
	if network == "relp+tls" {
		handle = (&relpServer{}).handle
	}
	r := newReceiver(t, "tcp", handle)
	r.tls = c
	return r.start()
}

func TestTLSArrives(t *testing.T) {
	a := newAuthority(t)
	for _, network := range []string{"tls", "relp+tls"} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			r := newSecure(t, network, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, MaxVersion: version})
			d := dial(t, network, r.addr, Config{TLS: &tls.Config{RootCAs: a.pool}})
			deliver(t, d, batchOf(0, 2000))
			deliver(t, d, batchOf(2000, 2001))
			if got, want := r.lines(2001), linesOf(0, 2001); !slices.Equal(got, want) {
				t.Errorf("%s: got %d lines, want %d in order", network, len(got), len(want))
			}
		}
	}
}

func TestTLSRefusesReceivers(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	good := a.issue(nil)
	self := (&authority{t: t}).issue(nil)
	for name, c := range map[string]struct {
		server, client *tls.Config
		want           string
	}{
		"wrong name": {
			&tls.Config{Certificates: []tls.Certificate{good}},
			&tls.Config{RootCAs: a.pool, ServerName: "other.test"}, "not other.test"},
		"wrong address": {
			&tls.Config{Certificates: []tls.Certificate{a.issue(func(c *x509.Certificate) { c.IPAddresses = nil })}},
			&tls.Config{RootCAs: a.pool}, "127.0.0.1"},
		"common name only": {
			&tls.Config{Certificates: []tls.Certificate{a.issue(func(c *x509.Certificate) {
				c.Subject.CommonName, c.DNSNames, c.IPAddresses = "logs.test", nil, nil
			})}},
			&tls.Config{RootCAs: a.pool, ServerName: "logs.test"}, "legacy Common Name"},
		"expired": {
			&tls.Config{Certificates: []tls.Certificate{a.issue(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })}},
			&tls.Config{RootCAs: a.pool}, "expired"},
		"not yet valid": {
			&tls.Config{Certificates: []tls.Certificate{a.issue(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })}},
			&tls.Config{RootCAs: a.pool}, "not yet valid"},
		"self-signed": {
			&tls.Config{Certificates: []tls.Certificate{self}},
			&tls.Config{RootCAs: a.pool}, "unknown authority"},
		"another authority": {
			&tls.Config{Certificates: []tls.Certificate{other.issue(nil)}},
			&tls.Config{RootCAs: a.pool}, "unknown authority"},
		"the system's roots": {
			&tls.Config{Certificates: []tls.Certificate{good}}, nil, "certificate"},
		"a client's certificate": {
			&tls.Config{Certificates: []tls.Certificate{a.issue(func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] })}},
			&tls.Config{RootCAs: a.pool}, "incompatible key usage"},
		"TLS 1.1": {
			&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
			&tls.Config{RootCAs: a.pool}, "protocol version"},
	} {
		for _, network := range []string{"tls", "relp+tls"} {
			r := newSecure(t, network, c.server)
			d := dial(t, network, r.addr, Config{TLS: c.client})
			res, err := d.Deliver(context.Background(), batchOf(0, 3))
			if err == nil || res.Accepted != 0 || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "TLS handshake: ") {
				t.Errorf("%s, %s: got %+v and error %v, want %q", network, name, res, err, c.want)
			}
			r.stop()
			if len(r.messages) > 0 {
				t.Errorf("%s, %s: %d messages have arrived", network, name, len(r.messages))
			}
		}
	}
}

// With TLS 1.3 a client is connected before the receiver has checked its
// certificate.
func TestTLSReceiverRefusesTheClient(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for name, mine := range map[string][]tls.Certificate{"none": nil, "of another authority": {other.issue(nil)}} {
			for _, network := range []string{"tls", "relp+tls"} {
				r := newSecure(t, network, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)},
					ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool, MaxVersion: version})
				d := dial(t, network, r.addr, Config{TLS: &tls.Config{RootCAs: a.pool, Certificates: mine}})
				d.grace = testTimeout // the refusal ends it
				res, err := d.Deliver(context.Background(), batchOf(0, 3))
				if err == nil || res.Accepted != 0 || !strings.Contains(err.Error(), "remote error: tls: ") {
					t.Errorf("%s, %#x, certificate %s: got %+v and error %v, want the "+
						"receiver's error", network, version, name, res, err)
				}
			}
		}
	}
}

func TestTLSReceiverTakesTheClient(t *testing.T) {
	a := newAuthority(t)
	client := a.issue(nil)
	for _, c := range []*tls.Config{
		{RootCAs: a.pool, Certificates: []tls.Certificate{client}},
		{RootCAs: a.pool, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &client, nil }},
	} {
		r := newSecure(t, "tls", &tls.Config{Certificates: []tls.Certificate{a.issue(nil)},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool})
		d := dial(t, "tls", r.addr, Config{TLS: c})
		deliver(t, d, batchOf(0, 3))
		r.lines(3)
	}
}

func TestTLSCannotBeWeakened(t *testing.T) {
	for name, c := range map[string]*tls.Config{
		"InsecureSkipVerify": {InsecureSkipVerify: true},
		"MinVersion":         {MinVersion: tls.VersionTLS11},
		"MaxVersion":         {MaxVersion: tls.VersionTLS11},
	} {
		if _, err := New("tls", "logs.test:6514", Config{TLS: c}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want an error that names it", name, err)
		}
	}
	if _, err := New("tls", ":6514", Config{}); err == nil || !strings.Contains(err.Error(), "ServerName") {
		t.Errorf("no host: got error %v, want an error that names ServerName", err)
	}
	if _, err := New("tcp", "logs.test:6514", Config{TLS: &tls.Config{}}); err == nil {
		t.Error("TLS without TLS: got no error")
	}
}

// A receiver that accepts connections and sends nothing does not block Deliver.
func TestTLSHandshakeHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := newReceiver(t, "tcp", func(r *receiver, conn net.Conn) {
		cancel()
		_, _ = io.Copy(io.Discard, conn)
	}).start()
	d := dial(t, "tls", r.addr, Config{TLS: &tls.Config{RootCAs: x509.NewCertPool()}})
	if _, err := d.Deliver(ctx, batchOf(0, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want Canceled", err)
	}
}

// A receiver gets another certificate, of another authority: the file of the
// authorities is read again for the next connection. While it cannot be used,
// the previous ones are, and Deliver returns the error once.
func TestTLSFilesAreReadAgain(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	file, at := filepath.Join(t.TempDir(), "ca.pem"), time.Unix(1e9, 0)
	write := func(text []byte) {
		at = at.Add(time.Second)
		if err := errors.Join(os.WriteFile(file, text, 0o600),
			os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	pemOf := func(a *authority) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	}
	write(pemOf(first))
	r := newSecure(t, "tls", &tls.Config{Certificates: []tls.Certificate{second.issue(nil)}})
	to, p, err := target.Parse("syslog+tls://"+r.addr+"?tls_ca="+file, []target.Spec{Kind})
	must.Succeed(t, err)
	d, err := p.(*params).open(to)
	must.Succeed(t, err)
	defer d.Close()
	for i, step := range []struct {
		ca       []byte
		accepted int
		err      string
	}{
		{nil, 0, "certificate"}, {pemOf(second), 1, ""}, {[]byte("half"), 1, "tls_ca: there is no certificate in"}, {nil, 1, ""}, {pemOf(first), 0, "certificate"},
	} {
		if step.ca != nil {
			write(step.ca)
		}
		if l := d.link.Load(); l != nil {
			l.fail(io.ErrClosedPipe) // the next call makes a connection
		}
		res, err := d.Deliver(t.Context(), batchOf(i, i+1))
		if res.Accepted != step.accepted || (err == nil) != (step.err == "") || err != nil &&
			!strings.Contains(err.Error(), step.err) {
			t.Errorf("step %d: got %+v and %v, want %q", i, res, err, step.err)
		}
	}
}
