// SPDX-License-Identifier: Apache-2.0

// Package tlsfiles has the parameters of targets with TLS. The struct of a kind
// embeds them:
//
//	type params struct {
//		Timeout time.Duration `set:"timeout" default:"10s" doc:"time for an answer"`
//		tlsfiles.Files
//	}
//
//	current, err := p.Files.Load()
//
// The destination calls current for each new connection, so that certificates
// can be replaced while a program runs.
package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/nib-log/nib/target"
)

// Files has the parameters of TLS. A struct of parameters embeds it.
type Files struct {
	CA   string `set:"tls_ca" default:"the system's" doc:"file of the certificates to trust"`
	Cert string `set:"tls_cert" default:"none" doc:"file of the client's certificate"`
	Key  string `set:"tls_key" default:"none" doc:"file of its private key"`
	Name string `set:"tls_name" default:"the host" doc:"name that the server's certificate must have"`
}

// Load reads the files, and returns a function that returns the configuration
// for a new connection; the function is nil if no parameter is set. The TLS
// version is 1.2 or later. The error joins [target.Fault]s.
//
// The function reads the files again when one of them has changed. If they
// cannot be used, for example because only one of two was replaced yet, it
// returns the previous configuration, and also the error, once until the files
// change again or the error does. It returns the same pointer until the
// configuration changes; the caller must not modify it. The function is safe
// for concurrent use.
func (p Files) Load() (current func() (*tls.Config, error), err error) {
	if p == (Files{}) {
		return nil, nil
	}
	for _, name := range []*string{&p.CA, &p.Cert, &p.Key} {
		if *name == "" {
			continue
		}
		if *name, err = filepath.Abs(*name); err != nil { // the working directory may change
			return nil, err
		}
	}
	r := &reader{files: p, seen: p.stat()}
	if r.config, err = p.read(); err != nil {
		return nil, err
	}
	return r.current, nil
}

// A reader reads files again when they change.
type reader struct {
	files Files

	mu     sync.Mutex
	config *tls.Config
	seen   [3]os.FileInfo // of the files when they were last read
	fault  error          // of the files when they were last read
}

// current returns the current configuration.
func (r *reader) current() (*tls.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.files.stat() // before the files are read: a change in between is seen next time
	changed := !same(now, r.seen)
	if !changed && r.fault == nil {
		return r.config, nil
	}
	config, err := r.files.read()
	before := r.fault
	r.seen, r.fault = now, err
	if err == nil {
		r.config = config
		return r.config, nil
	}
	if !changed && before.Error() == err.Error() {
		return r.config, nil
	}
	return r.config, fmt.Errorf(
		"the files of TLS have changed and cannot be used, so the previous ones are: %w", err)
}

// stat returns the state of the files, nil for those that do not exist.
func (p Files) stat() (infos [3]os.FileInfo) {
	for i, name := range []string{p.CA, p.Cert, p.Key} {
		if info, err := os.Stat(name); err == nil {
			infos[i] = info
		}
	}
	return infos
}

func same(a, b [3]os.FileInfo) bool {
	for i := range a {
		switch {
		case a[i] == nil || b[i] == nil:
			if a[i] != b[i] {
				return false
			}
		case !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() ||
			!a[i].ModTime().Equal(b[i].ModTime()):
			return false
		}
	}
	return true
}

// read reads the files.
func (p Files) read() (*tls.Config, error) {
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
		errs = append(errs,
			target.Fault("tls_cert", errors.New("tls_cert and tls_key must be set together")))
	case p.Cert != "":
		pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			errs = append(errs, target.Fault("tls_cert", err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, errors.Join(errs...)
}
