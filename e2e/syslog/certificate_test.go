// SPDX-License-Identifier: Apache-2.0

//go:build linux

package syslog

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/internal/must"
)

// secure sets up both sides of a network with TLS: one certificate for all,
// which both sides trust.
func secure(t *testing.T, network, address string, r *servers.RsyslogConfig, c *syslog.Config) {
	t.Helper()
	dir := t.TempDir()
	switch network {
	case "relp+tls":
		r.RELP = fmt.Sprintf(`tls="on" tls.authMode="certvalid" tls.caCert="%[1]s/cert.pem" tls.myCert="%[1]s/cert.pem" tls.myPrivKey="%[1]s/key.pem"`, dir)
	case "tls":
		if found, _ := filepath.Glob("/usr/lib/*/rsyslog/lmnsd_gtls.so"); found == nil {
			t.Skip("needs rsyslog's TLS driver (apt-get install rsyslog-gnutls)")
		}
		r.TCP = `StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="x509/certvalid"`
		r.Head = fmt.Sprintf(`global(DefaultNetstreamDriverCAFile="%[1]s/cert.pem" DefaultNetstreamDriverCertFile="%[1]s/cert.pem" DefaultNetstreamDriverKeyFile="%[1]s/key.pem")`, dir)
	default:
		return
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "logs.test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.ParseIP(address)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must.Succeed(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must.Succeed(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	c.TLS = &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
