// SPDX-License-Identifier: Apache-2.0

package tlsfiles_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/target/tlsfiles"
)

// certificate makes a self-signed certificate with a number, and its key.
func certificate(t *testing.T, number int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "a"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must.Succeed(t, err)
	text, err := x509.MarshalECPrivateKey(private)
	must.Succeed(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})
}

// A folder has files, each with another time of change.
type folder struct {
	t    *testing.T
	dir  string
	time time.Time
}

func (f *folder) write(name string, text []byte) string {
	f.t.Helper()
	f.time = f.time.Add(time.Second)
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Chtimes(path, f.time, f.time); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// serial returns the number of the client's certificate.
func serial(t *testing.T, c *tls.Config) int64 {
	t.Helper()
	leaf, err := x509.ParseCertificate(c.Certificates[0].Certificate[0])
	must.Succeed(t, err)
	return leaf.SerialNumber.Int64()
}

// Files that are replaced while a program runs are used for the next
// connection. While they cannot be used, the previous ones are, and the error
// is returned once.
func TestFilesAreReadAgain(t *testing.T) {
	f := &folder{t, t.TempDir(), time.Unix(1e9, 0)}
	cert1, key1 := certificate(t, 1)
	cert2, key2 := certificate(t, 2)
	files := tlsfiles.Files{CA: f.write("ca", cert1), Cert: f.write("cert", cert1),
		Key: f.write("key", key1)}
	current, err := files.Load()
	must.Succeed(t, err)
	before, _ := current()
	for _, step := range []struct {
		name    string
		change  func()
		serial  int64
		fails   bool
		renewed bool
	}{
		{"no change", func() {}, 1, false, false},
		{"a new certificate without its key", func() { f.write("cert", cert2) }, 1, true, false},
		{"no change", func() {}, 1, false, false},
		{"its key", func() { f.write("key", key2) }, 2, false, true},
		{"a new time of change", func() { f.write("key", key2) }, 2, false, true},
		{"half a file", func() { f.write("ca", cert1[:len(cert1)/2]) }, 2, true, false},
		{"no file", func() { _ = os.Remove(files.CA) }, 2, true, false},
		{"another file by a rename", func() { _ = os.Rename(f.write("new", cert2), files.CA) }, 2, false, true},
		{"no certificate", func() { f.write("cert", nil) }, 2, true, false},
		{"the certificate before", func() { f.write("cert", cert1); f.write("key", key1) }, 1, false, true},
	} {
		step.change()
		c, err := current()
		if c == nil || serial(t, c) != step.serial || (err != nil) != step.fails ||
			(c != before) != step.renewed {
			t.Fatalf("%s: got certificate %v, another configuration %v and error %v", step.name,
				serial(t, c), c != before, err)
		}
		if again, err := current(); again != c || err != nil {
			t.Fatalf("%s: called again, got another configuration %v and error %v", step.name,
				again != c, err)
		}
		before = c
	}
}

// A file whose key is written within the resolution of times is read again as
// long as it cannot be used.
func TestFilesThatCannotBeUsedAreReadEachTime(t *testing.T) {
	f := &folder{t, t.TempDir(), time.Unix(1e9, 0)}
	cert1, key1 := certificate(t, 1)
	cert2, key2 := certificate(t, 2)
	for len(key2) != len(key1) {
		cert2, key2 = certificate(t, 2)
	}
	files := tlsfiles.Files{Cert: f.write("cert", cert1), Key: f.write("key", key1)}
	current, err := files.Load()
	must.Succeed(t, err)
	f.write("cert", cert2)
	if _, err := current(); err == nil {
		t.Fatal("a certificate with another key has no error")
	}
	f.time = f.time.Add(-2 * time.Second) // as before
	f.write("key", key2)
	if c, err := current(); err != nil || serial(t, c) != 2 || bytes.Equal(key1, key2) {
		t.Errorf("got certificate %d and %v", serial(t, c), err)
	}
}
