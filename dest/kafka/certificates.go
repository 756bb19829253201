// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// certificates are read from files again when these change; see package
// tlsfiles.
type certificates struct {
	load  func() (*tls.Config, error)
	fault atomic.Pointer[error] // of load, not yet returned by takeFault
}

// dialer returns a function that opens connections with the current
// certificates.
func (c *certificates) dialer(
	timeout time.Duration,
) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		config, err := c.load()
		if err != nil {
			c.fault.Store(&err)
		}
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: timeout}, Config: config}
		return d.DialContext(ctx, network, addr)
	}
}

// takeFault returns the last fault of load, once.
func (c *certificates) takeFault() error {
	if c == nil {
		return nil
	}
	if err := c.fault.Swap(nil); err != nil {
		return *err
	}
	return nil
}
