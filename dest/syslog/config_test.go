// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLimitsOfConfig has the last value that is allowed and the first that is
// not.
func TestLimitsOfConfig(t *testing.T) {
	for _, x := range []struct {
		name      string
		good, bad Config
	}{
		{"facility", Config{Facility: "LOCAL7"}, Config{Facility: "local8"}},
		{"facility of the kernel", Config{Facility: "user"}, Config{Facility: "kern"}},
		{"window", Config{Window: maxWindow}, Config{Window: maxWindow + 1}},
		{"negative window", Config{}, Config{Window: -1}},
		{"size", Config{MaxSize: minMaxSize}, Config{MaxSize: minMaxSize - 1}},
		{"timeout", Config{Timeout: minTimeout}, Config{Timeout: minTimeout - 1}},
		{"stall", Config{}, Config{Stall: -1}},
		{"dial timeout", Config{}, Config{DialTimeout: -1}},
	} {
		if err := x.good.Validate(); err != nil {
			t.Errorf("%s: got %v", x.name, err)
		}
		if err := x.bad.Validate(); err == nil {
			t.Errorf("%s: got no error", x.name)
		}
	}
}

// Without a SequenceID no element can have it.
func TestElementWithoutIDIsOneError(t *testing.T) {
	err := Config{StructuredData: "[]"}.Validate()
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one error", err)
	}
}

// TestDefaultsOfConfig checks that messages contain the program and the host.
func TestDefaultsOfConfig(t *testing.T) {
	c := Config{}.withDefaults()
	host, _ := os.Hostname()
	if c.AppName != filepath.Base(os.Args[0]) || c.Hostname != host || c.Facility != "user" {
		t.Errorf("got %q on %q, facility %q", c.AppName, c.Hostname, c.Facility)
	}
	c = Config{AppName: "app", Hostname: "web-1", Facility: "local3"}.withDefaults()
	if c.AppName != "app" || c.Hostname != "web-1" || c.Facility != "local3" {
		t.Errorf("got %q on %q, facility %q", c.AppName, c.Hostname, c.Facility)
	}
}

// TestTLSIsAtLeast12 checks the minimum version for all configurations of the
// caller.
func TestTLSIsAtLeast12(t *testing.T) {
	for _, x := range []struct {
		in   *tls.Config
		want uint16 // 0 if it is rejected
	}{
		{nil, tls.VersionTLS12},
		{&tls.Config{}, tls.VersionTLS12},
		{&tls.Config{MinVersion: tls.VersionTLS12}, tls.VersionTLS12},
		{&tls.Config{MinVersion: tls.VersionTLS13}, tls.VersionTLS13},
		{&tls.Config{MaxVersion: tls.VersionTLS12}, tls.VersionTLS12},
		{&tls.Config{MinVersion: tls.VersionTLS11}, 0},
		{&tls.Config{MaxVersion: tls.VersionTLS11}, 0},
		{&tls.Config{InsecureSkipVerify: true}, 0},
	} {
		got, err := Config{TLS: x.in}.tlsConfig("logs.example:6514")
		switch {
		case (err != nil) != (x.want == 0):
			t.Errorf("%+v: got error %v", x.in, err)
		case err == nil && (got.MinVersion != x.want || got.ServerName != "logs.example"):
			t.Errorf("%+v: got version %#x and name %s, want %#x", x.in, got.MinVersion, got.ServerName, x.want)
		}
	}
	for _, addr := range []string{":6514", "logs.example"} {
		if _, err := (Config{}).tlsConfig(addr); err == nil {
			t.Errorf("%s has no name to check, and got no error", addr)
		}
		if c, err := (Config{TLS: &tls.Config{ServerName: "x"}}).tlsConfig(addr); err != nil || c.ServerName != "x" {
			t.Errorf("%s with a ServerName: got %v", addr, err)
		}
	}
}
