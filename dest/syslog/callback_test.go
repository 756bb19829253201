// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"crypto/tls"
	"net"
	"runtime/debug"
	"testing"

	"github.com/nib-log/nib/internal/usercode"
)

// TestPanicOfACallbackClosesTheConnection has a TLS configuration whose
// function panics at each attempt, which the spool survives: an attempt must
// not leave a connection behind.
func TestPanicOfACallbackClosesTheConnection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close unreferenced files
	a := newAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
