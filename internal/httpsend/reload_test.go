// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
)

// Each request uses the current configuration of TLS, also if there is a
// connection. If it cannot be reloaded, the error is reported once, and the
// records are accepted.
func TestTLSIsReloaded(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "200")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	trusts := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	distrusts := &tls.Config{RootCAs: x509.NewCertPool()}
	config, fault := distrusts, error(nil)
	var reported []string
	c, err := New(Config{
		URL: server.URL, TLS: distrusts, ReloadTLS: func() (*tls.Config, error) {
			return config, fault
		},
		OnError: func(err error) { reported = append(reported, err.Error()) },
	})
	must.Succeed(t, err)
	defer c.Close()
	s := NewSender(c, lines{}, 1<<20)
	for i, step := range []struct {
		config   *tls.Config
		fault    error
		accepted int
		err      string
	}{
		{distrusts, nil, 0, "certificate"}, {trusts, nil, 1, ""}, {trusts, errors.New("half a file"), 1, "half a file"}, {trusts, nil, 1, ""}, {distrusts, nil, 0, "certificate"},
	} {
		config, fault, reported = step.config, step.fault, nil
		c.after = time.Time{} // without a pause
		res, err := s.Deliver(context.Background(), recordsOf(1))
		if res.Accepted != step.accepted || (err == nil) != (step.err == "") || err != nil &&
			!strings.Contains(err.Error(), step.err) {
			t.Errorf("step %d: got %+v and %v, want %q", i, res, err, step.err)
		}
		if all := strings.Join(reported, "\n"); (all == "") != (step.err == "") ||
			!strings.Contains(all, step.err) {
			t.Errorf("step %d: reported %q, want %q", i, all, step.err)
		}
	}
}
