// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"strings"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/target"
	"github.com/nib-log/nib/target/tlsfiles"
)

// Kind creates destinations for targets such as
// syslog+tls://logs:6514?facility=local0. Package setup includes it.
var Kind = target.Spec{
	Forms: []string{
		"syslog+tcp://HOST:PORT", "syslog+tls://HOST:PORT", "syslog+relp://HOST:PORT", "syslog+relp+tls://HOST:PORT",
		"syslog+unix:PATH", "syslog+unixgram:PATH",
	},
	Doc: "a syslog receiver (RFC 5424); relp acknowledges, unix is for sockets of either " +
		"kind, such as /dev/log",
	Params: func() target.Params { return new(params) },
}

// params are the parameters of a receiver.
type params struct {
	Config
	TooLong string `set:"too_long" is:"cut|reject" default:"cut" doc:"what is done with longer messages"`
	tlsfiles.Files

	path string // of a socket, absolute: found by Validate, before the working directory may change
}

// config returns the Config.
func (p *params) config() (c Config, err error) {
	c = p.Config
	c.RejectLong = p.TooLong == "reject"
	if c.reload, err = p.Files.Load(); err == nil && c.reload != nil {
		c.TLS, _ = c.reload()
	}
	return c, err
}

// Validate implements [target.Params].
func (p *params) Validate(t target.Target) error {
	d, err := p.open(t)
	if err != nil {
		return err
	}
	return d.Close()
}

// Open implements [target.Params].
func (p *params) Open(t target.Target) (delivery.Destination, error) { return p.open(t) }

func (p *params) open(t target.Target) (*Destination, error) {
	c, err := p.config()
	if err != nil {
		return nil, err
	}
	network := strings.TrimPrefix(t.Scheme, "syslog+")
	if t.Host != "" {
		return New(network, t.Host, c)
	}
	if p.path == "" {
		if p.path, err = absolute(network, t.Path); err != nil {
			return nil, err
		}
	}
	return New(network, p.path, c)
}
