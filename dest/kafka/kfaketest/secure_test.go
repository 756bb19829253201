// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/target"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// certificate makes a certificate for 127.0.0.1 and example.com, and a pool
// with it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}, pool
}

func TestTLSAndSASL(t *testing.T) {
	server, pool := certificate(t)
	c := start(t, 1, kfake.TLS(server), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "plain", "secret"), kfake.Superuser("SCRAM-SHA-256", "scram256", "secret"), kfake.Superuser("SCRAM-SHA-512", "scram512", "secret"))
	client := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	n := uint64(0)
	for user, mechanism := range map[string]string{"plain": "PLAIN", "scram256": "SCRAM-SHA-256", "scram512": "SCRAM-SHA-512"} {
		d := dial(t, c, Config{TLS: client, SASL: &SASL{Mechanism: mechanism, User: user, Password: "secret"}})
		deliver(t, d, records(7, n+1, n+10))
		n += 10
		if got := d.Stats().Records; got != 10 {
			t.Errorf("%s: got %d records", mechanism, got)
		}
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.DialTLSConfig(client), kgo.ConsumeTopics(logs),
		kgo.SASL(plain.Auth{User: "plain", Pass: "secret"}.AsMechanism()))
	must.Succeed(t, err)
	defer cl.Close()
	for n > 0 {
		n -= uint64(min(n, uint64(cl.PollFetches(t.Context()).NumRecords())))
	}
}

// Errors of the connection are reported, and no record is rejected because of
// them.
func TestRefusedConnections(t *testing.T) {
	server, pool := certificate(t)
	secure := start(t, 1, kfake.TLS(server), kfake.EnableSASL(), kfake.Superuser("PLAIN", "user", "secret"))
	trusted := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	wrongName := trusted.Clone()
	wrongName.ServerName = "kafka.example.org"
	user := &SASL{Mechanism: "PLAIN", User: "user", Password: "secret", AllowClearText: true}
	for _, c := range []struct {
		name string
		conf Config
		want string
	}{
		{"unknown authority", Config{TLS: &tls.Config{MinVersion: tls.VersionTLS12}, SASL: user}, "certificate"},
		{"wrong name", Config{TLS: wrongName, SASL: user}, "kafka.example.org"},
		// kfake closes the connection without an error, brokers return one
		{"wrong password", Config{TLS: trusted, SASL: &SASL{Mechanism: "PLAIN", User: "user", Password: "wrong"}}, ""},
		{"unknown mechanism", Config{TLS: trusted, SASL: &SASL{Mechanism: "SCRAM-SHA-512", User: "user", Password: "secret"}}, ""},
		{"no TLS", Config{SASL: user}, ""},
	} {
		var reported []string
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
		c.conf.OnError = func(err error) {
			if reported = append(reported, err.Error()); strings.Contains(err.Error(), c.want) {
				cancel()
			}
		}
		d := dial(t, secure, c.conf)
		res, err := d.Deliver(ctx, records(7, 1, 10))
		cancel()
		all := fmt.Sprint(err, reported)
		if res.Accepted+len(res.Rejected) > 0 || err == nil || !strings.Contains(all, c.want) {
			t.Errorf("%s: got %+v, %s; want an error with %q", c.name, res, all, c.want)
		}
	}
}

// A target has the parameters of a secured cluster: files for the certificates
// to trust and the password.
func TestTLSAndSASLByTarget(t *testing.T) {
	server, _ := certificate(t)
	c := start(t, 1, kfake.TLS(server), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "plain", "secret"), kfake.Superuser("SCRAM-SHA-256", "scram-sha-256", "secret"), kfake.Superuser("SCRAM-SHA-512", "scram-sha-512", "secret"))
	ca, password := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "password")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificates[0].Certificate[0]})
	must.Succeed(t, errors.Join(os.WriteFile(ca, certificate, 0o600),
		os.WriteFile(password, []byte("secret\n"), 0o600)))
	for i, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		text := "kafka://" + c.ListenAddrs()[0] + "/" + logs + "?tls_ca=" + ca + "&user=" + mechanism + "&mechanism=" + mechanism + "&password_file=" + password
		to, params, err := target.Parse(text, []target.Spec{Kind})
		must.Succeed(t, err)
		dest, err := params.Open(to)
		must.Succeed(t, err)
		d := dest.(*Destination)
		deliver(t, d, records(7, uint64(10*i+1), uint64(10*i+10)))
		if got := d.Stats().Records; got != 10 {
			t.Errorf("%s: got %d records, want 10", mechanism, got)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The file of the certificates is read again for each connection. While it
// cannot be used, the previous ones are, and Deliver returns the error once.
func TestCertificatesAreReadAgain(t *testing.T) {
	server, _ := certificate(t)
	c := start(t, 1, kfake.TLS(server))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificates[0].Certificate[0]})
	must.Succeed(t, os.WriteFile(ca, text, 0o600))
	to, params, err := target.Parse("kafka://"+c.ListenAddrs()[0]+"/"+logs+"?tls_ca="+ca,
		[]target.Spec{Kind})
	must.Succeed(t, err)
	d, err := params.Open(to)
	must.Succeed(t, err)
	defer d.(*Destination).Close()
	must.Succeed(t, os.WriteFile(ca, nil, 0o600))
	reported := 0
	for batch := records(7, 1, 10); len(batch) > 0; {
		res, err := d.Deliver(t.Context(), batch)
		if err != nil && strings.Contains(err.Error(), "tls_ca: there is no certificate in "+ca) {
			reported++
		} else if err != nil {
			t.Fatal(err)
		}
		batch = batch[res.Accepted:]
	}
	if reported != 1 {
		t.Errorf("the error was returned %d times, want once", reported)
	}
}
