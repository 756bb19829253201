// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/target"
)

const (
	maxRequest   = 64 << 20
	batchRecords = 8192
)

// A Config configures a Destination. The zero value is usable.
type Config struct {
	// Header is sent with each request, for example Authorization or
	// X-Scope-OrgID.
	Header http.Header

	// Resource has the attributes of the resource: service.name and others.
	Resource map[string]string

	// Layout is the layout of the lines: the fields with its keys for time,
	// level, message and logger name do not become attributes. Defaults to
	// nib's own layout.
	Layout nib.Layout

	// Compression is the codec of requests: "none" or "gzip". Defaults to none,
	// as in OpenTelemetry's exporters.
	Compression string `set:"compression" is:"none|gzip" default:"none" doc:"how requests are compressed"`

	// MaxRequest is the maximum size in bytes of a request before compression;
	// a single record may exceed it. If the server accepts less, or does not
	// respond within Timeout, requests become shorter for a while. Defaults to
	// 4 MiB.
	MaxRequest int `set:"max_request" is:"size" default:"4194304B" doc:"size of a request before compression"`

	// TLS configures https. Defaults to the certificates of the system.
	TLS *tls.Config

	// reload returns TLS, after its files were read again; see tlsfiles.
	reload func() (*tls.Config, error)

	// Timeout is the maximum time for one request. Defaults to 10 s.
	Timeout time.Duration `set:"timeout" default:"10s" doc:"time for one request"`

	// OnError is called with the error of each failed attempt, and with the
	// message of a partial success, by the goroutine that called Deliver.
	OnError func(error)

	// Dial opens connections. Defaults to net.Dialer.DialContext.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/otlp: "+format, values...))
		}
	}
	fault(!slices.Contains(compressions, c.Compression), "Compression is unknown: %q",
		c.Compression)
	fault(c.MaxRequest < 0 || c.MaxRequest > maxRequest, "MaxRequest is not from 0 to %d: %d",
		maxRequest, c.MaxRequest)
	fault(c.Timeout < 0, "Timeout is negative: %v", c.Timeout)
	return errors.Join(faults...)
}

var compressions = []string{"", "none", "gzip"}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	target.SetDefaults(&c)
	return c
}
