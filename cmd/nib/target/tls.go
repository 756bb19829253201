// SPDX-License-Identifier: Apache-2.0

package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// tls reads the options of TLS, nil if there is none. Files are read here, so that
// a name that is misspelt is told at once.
func (t *Target) tls() (*tls.Config, error) {
	ca, cert, key, name := t.options.Get("ca"), t.options.Get("cert"), t.options.Get("key"), t.options.Get("name")
	if ca == "" && cert == "" && key == "" && name == "" {
		return nil, nil
	}
	c := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca: there is no certificate in %s", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("cert and key belong together")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
