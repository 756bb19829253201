// SPDX-License-Identifier: Apache-2.0

// Package httpsendtest tests destinations that send over HTTP, in bubbles of
// testing/synctest: connections are pipes, and pauses pass in fake time.
package httpsendtest

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
)

// A Wire is a listener whose connections are pipes.
type Wire struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Serve starts a server on a Wire. It ends with the test.
func Serve(t testing.TB, h http.Handler) *Wire {
	l := &Wire{conns: make(chan net.Conn), done: make(chan struct{})}
	s := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	return l
}

// Accept implements net.Listener.
func (l *Wire) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Wire) Close() error { l.once.Do(func() { close(l.done) }); return nil }

// Addr implements net.Listener.
func (l *Wire) Addr() net.Addr { return &net.UnixAddr{Name: "wire"} }

// Dial connects to the server, whatever the address is.
func (l *Wire) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case l.conns <- a:
		return b, nil
	case <-l.done:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Deliver calls d as a spool does, with a pause of a second after an error,
// until all records are settled, or some number of times. It returns the UID
// and the reason of each rejected record, the errors, and the number of records
// that are not settled.
func Deliver(d delivery.Destination, batch []nib.Record, calls int) (
	rejected []string, errs []error, left int,
) {
	for ; len(batch) > 0 && calls > 0; calls-- {
		res, err := d.Deliver(context.Background(), batch)
		for _, r := range res.Rejected {
			rejected = append(rejected, UID(&batch[r.Index])+": "+r.Reason.Error())
		}
		batch = batch[res.Accepted:]
		if err != nil {
			errs = append(errs, err)
			time.Sleep(time.Second) // fake time
		}
	}
	return rejected, errs, len(batch)
}

// DeliverAll is Deliver until all records are settled.
func DeliverAll(t testing.TB, d delivery.Destination, batch []nib.Record) (
	rejected []string, errs []error,
) {
	t.Helper()
	rejected, errs, left := Deliver(d, batch, 1000)
	if left > 0 {
		t.Fatal("never settled")
	}
	return rejected, errs
}

// UID returns the identity of a record, as destinations send it.
func UID(r *nib.Record) string { return fmt.Sprintf("%016x-%d", r.Spool, r.Seq) }

// CertificatesAreReadAgain checks that a destination at a server with h reads
// the file of the authorities again while the program runs. open opens it with
// the URL of the server and the query of a target.
func CertificatesAreReadAgain(
	t *testing.T, h http.Handler, open func(url, query string) (delivery.Destination, error),
) {
	s := httptest.NewTLSServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer s.Close()
	file, at := filepath.Join(t.TempDir(), "ca.pem"), time.Unix(1e9, 0)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	must.Succeed(t, os.WriteFile(file, own, 0o600), os.Chtimes(file, at, at))
	d, err := open(s.URL, "?tls_ca="+file)
	must.Succeed(t, err)
	defer d.(io.Closer).Close()
	for i, want := range []string{"", "tls_ca: there is no certificate in " + file, ""} {
		if i == 1 {
			must.Succeed(t, os.WriteFile(file, nil, 0o600))
		}
		res, err := d.Deliver(t.Context(), []nib.Record{{Line: []byte("{}\n")}})
		if res.Accepted != 1 || (err == nil) != (want == "") || err != nil &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("call %d: got %+v and %v, want %q", i, res, err, want)
		}
	}
}
