// SPDX-License-Identifier: Apache-2.0

// Package tlsfiles has the parameters of targets with TLS. The struct of a kind
// embeds them:
//
//	type params struct {
//		Timeout time.Duration `set:"timeout" default:"10s" doc:"time for an answer"`
//		tlsfiles.Files
//	}
//
//	config, err := p.Files.Load()
package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"

	"github.com/nib-log/nib/target"
)

// Files has the parameters of TLS. A struct of parameters embeds it.
type Files struct {
	CA   string `set:"tls_ca" default:"the system's" doc:"file of the certificates to trust"`
	Cert string `set:"tls_cert" default:"none" doc:"file of the client's certificate"`
	Key  string `set:"tls_key" default:"none" doc:"file of its private key"`
	Name string `set:"tls_name" default:"the host" doc:"name that the server's certificate must have"`
}

// Load reads the files and returns the configuration, nil if no parameter is
// set. The TLS version is 1.2 or later. Its error joins [target.Fault]s.
func (p Files) Load() (*tls.Config, error) {
	if p == (Files{}) {
		return nil, nil
	}
	var errs []error
	c := &tls.Config{ServerName: p.Name, MinVersion: tls.VersionTLS12}
	if p.CA != "" {
		text, err := os.ReadFile(p.CA)
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("there is no certificate in " + p.CA)
		}
		if err != nil {
			errs = append(errs, target.Fault("tls_ca", err))
		}
	}
	switch {
	case (p.Cert == "") != (p.Key == ""):
		errs = append(errs, target.Fault("tls_cert", errors.New("tls_cert and tls_key must be set together")))
	case p.Cert != "":
		pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			errs = append(errs, target.Fault("tls_cert", err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, errors.Join(errs...)
}
