// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// certificates are read from files again when these change; see package
// tlsfiles.
type certificates struct {
	load func() (*tls.Config, error)

	mu    sync.Mutex
	fault error // of load, not yet returned by takeFault
}

// dialer returns a function that opens connections with the current
// certificates.
func (c *certificates) dialer(timeout time.Duration) func(ctx context.Context, network,
	addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		config, err := c.load()
		if err != nil {
			c.mu.Lock()
			c.fault = err
			c.mu.Unlock()
		}
		return (&tls.Dialer{Config: config}).DialContext(ctx, network, addr)
	}
}

// takeFault returns the last fault of load, once.
func (c *certificates) takeFault() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.fault
	c.fault = nil
	return err
}
