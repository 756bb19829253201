// SPDX-License-Identifier: Apache-2.0

package target

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nib-log/nib/dest/syslog"
)

var syslogOptions = []string{"app", "facility", "hostname", "msgid", "sequence_id", "max_size", "ca", "cert", "key", "name"}

// syslog reads the options.
func (t *Target) syslog() (c syslog.Config, err error) {
	c = syslog.Config{
		AppName: t.options.Get("app"), Hostname: t.options.Get("hostname"),
		MsgID: t.options.Get("msgid"), SequenceID: t.options.Get("sequence_id"),
	}
	if text := t.options.Get("facility"); text != "" {
		if c.Facility, err = syslog.ParseFacility(text); err != nil {
			return c, err
		}
	}
	if text := t.options.Get("max_size"); text != "" {
		if c.MaxSize, err = bytes(text); err != nil {
			return c, fmt.Errorf("max_size: %w", err)
		}
	}
	if c.TLS, err = t.tls(); err != nil {
		return c, err
	}
	if c.TLS != nil && t.Network != "tls" && t.Network != "relp+tls" {
		return c, errors.New("ca, cert, key and name are for tls and relp+tls")
	}
	return c, c.Validate()
}

func (t *Target) openSyslog() (Destination, error) {
	c, err := t.syslog()
	if err != nil {
		return nil, err
	}
	return syslog.New(t.Network, t.Address, c)
}

// bytes reads a size with a unit or without.
func bytes(text string) (int, error) {
	digits, unit := text, 1
	for name, factor := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "kB": 1000, "MB": 1_000_000} {
		if d, ok := strings.CutSuffix(text, name); ok {
			digits, unit = d, factor
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || n > 1<<30/unit {
		return 0, fmt.Errorf("%q is not a size like 64KiB", text)
	}
	return n * unit, nil
}
