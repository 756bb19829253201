// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// connections are the connections of a Client. They are replaced when the
// configuration of TLS changes.
type connections struct {
	c *Config

	mu   sync.Mutex
	http *http.Client
	tls  *tls.Config // of http

	fault atomic.Pointer[error] // of ReloadTLS, not yet returned by takeFault
}

// newHTTP returns a client with connections of its own.
func newHTTP(c *Config, config *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:              http.ProxyFromEnvironment,
			DialContext:        c.Dial,
			TLSClientConfig:    config,
			DisableCompression: true,
			MaxIdleConns:       2,
			IdleConnTimeout:    30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// current returns the client for the next request. fault is set if the
// configuration of TLS could not be reloaded.
func (c *connections) current() (client *http.Client, fault error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c.ReloadTLS == nil {
		return c.http, nil
	}
	config, err := c.c.ReloadTLS()
	if err != nil {
		fault = fmt.Errorf("%s: %w", c.c.Name, err)
		c.fault.Store(&fault)
	}
	if config != c.tls {
		c.http.CloseIdleConnections()
		c.http, c.tls = newHTTP(c.c, config), config
	}
	return c.http, fault
}

// takeFault returns the last fault of reloading, once.
func (c *connections) takeFault() error {
	if fault := c.fault.Swap(nil); fault != nil {
		return *fault
	}
	return nil
}

// closeIdle closes the connections without a request.
func (c *connections) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.http.CloseIdleConnections()
}
