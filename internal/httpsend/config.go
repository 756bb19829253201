// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const (
	defaultTimeout     = 10 * time.Second
	defaultMaxResponse = 1 << 20
)

// A Config configures a Client. URL is required.
type Config struct {
	// URL receives the requests: http://HOST:PORT/PATH or https.
	URL string

	// Name is the prefix of errors, such as "nib/otlp". Defaults to
	// "nib/httpsend".
	Name string

	// Header is sent with each request. Host replaces the host of URL in it.
	Header http.Header

	// TLS configures https. Defaults to the certificates of the system.
	TLS *tls.Config

	// ReloadTLS returns the configuration for the next request, in place of TLS.
	// When it returns another one, the request makes a new connection. An error
	// with a configuration is reported, and the configuration is used. It is
	// called by several goroutines. Defaults to TLS for all requests.
	ReloadTLS func() (*tls.Config, error)

	// Gzip compresses the bodies of requests. By default they are not.
	Gzip bool

	// Timeout is the maximum time for one request, from connecting to the end
	// of the response. A Sender begins no further request of a batch after this
	// time. Defaults to 10 s.
	Timeout time.Duration

	// MaxResponse is the maximum size of a response body in bytes; the rest is
	// discarded. Defaults to 1 MiB.
	MaxResponse int

	// OnError is called with the error of each failed attempt, by the goroutine
	// that called [Sender.Deliver].
	OnError func(error)

	// Dial opens connections. Defaults to net.Dialer.DialContext.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(c.withDefaults().Name+": "+format, values...))
		}
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil: // the text of err may contain a password
		fault(true, "the URL cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		fault(true, "want a URL like http://HOST:PORT/PATH, got %q", place(u))
	default:
		fault(u.User != nil, "the URL of %s has a user: set the header Authorization", u.Host)
		fault(c.TLS != nil && u.Scheme == "http", "TLS is set, and the URL of %s is http", u.Host)
	}
	fault(c.Timeout < 0, "Timeout is negative: %v", c.Timeout)
	fault(c.MaxResponse < 0, "MaxResponse is negative: %d", c.MaxResponse)
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		switch { // the text of an error must not contain a password
		case !isName(name):
			fault(true,
				"Header has a name with characters that are not allowed in one; want the name "+
					"alone, without a colon")
		case slices.ContainsFunc(c.Header[name], hasControl):
			fault(true, "Header has a line break or another control character in the value of %s",
				name)
		}
	}
	return errors.Join(faults...)
}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = "nib/httpsend"
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxResponse == 0 {
		c.MaxResponse = defaultMaxResponse
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext
	}
	return c
}
