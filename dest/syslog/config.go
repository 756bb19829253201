// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nib-log/nib/target"
)

const (
	minMaxSize = 480              // every receiver accepts this size (RFC 5424, section 6.1)
	minTimeout = time.Millisecond // a tick is a twelfth of the timeout
	maxWindow  = 1 << 20
	minLine    = 128 // minimum room for the line after the header
)

// A Config configures a Destination. The zero value is usable.
type Config struct {
	// Facility is the facility of all messages, by its name in the configuration
	// of receivers, such as "local0". Defaults to "user".
	Facility string `set:"facility" is:"user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|ntp|audit|alert|clock|local0|local1|local2|local3|local4|local5|local6|local7" default:"user" doc:"the facility"`

	// AppName is the name of the program, at most 48 characters of printable
	// ASCII without spaces. Defaults to the name of the executable file.
	AppName string `set:"app" default:"the program's name" doc:"APP-NAME"`

	// Hostname is the name of the machine, at most 255 characters. Defaults to
	// os.Hostname.
	Hostname string `set:"hostname" default:"the machine's" doc:"HOSTNAME"`

	// MsgID is the MSGID of all messages, at most 32 characters. Defaults to
	// the name of the record's logger (nib.Logger.Named), or "-".
	MsgID string `set:"msgid" default:"the logger's name" doc:"MSGID"`

	// StructuredData is added to all messages, as in a message (RFC 5424, section
	// 6.3): [origin@32473 region="eu"]. The number after the @ should be your own
	// private enterprise number. In a value, a quote, a backslash and a closing
	// bracket have a backslash before them. Defaults to none.
	StructuredData string `set:"structured_data" default:"none" doc:"elements of every message: [origin@32473 region=\"eu\"]"`

	// SequenceID is the ID of a structured data element with the Spool of a
	// record, a random number of the process, and its number, so that the
	// receiver can count missing and duplicate records. With "nib@32473":
	//
	//	[nib@32473 spool="00000000deadbeef" seq="17"]
	//
	// Defaults to "", which adds no such element.
	SequenceID string `set:"sequence_id" default:"none" doc:"ID of an element with the spool and number of the record: nib@32473"`

	// MaxSize is the maximum size of a message in bytes, including its header.
	// It must not exceed the receiver's limit: receivers truncate longer
	// messages, which breaks the JSON, or split them. Defaults to 8096, the
	// limit of rsyslog unless its maxMessageSize is set.
	MaxSize int `set:"max_size" is:"size" default:"8096B" doc:"size of a message, at most the receiver's limit"`

	// RejectLong rejects lines that are too long with delivery.ErrTooLarge. By
	// default their long strings are truncated, and a field "truncated" has the
	// number of missing bytes; the line stays valid JSON.
	RejectLong bool

	// TLS is for the networks tls and relp+tls: certificates, RootCAs,
	// ServerName. ServerName defaults to the host of the address. The name and
	// the chain are always verified, and the version is at least 1.2: a
	// tls.Config that disables either is an error. Defaults to the system's
	// roots.
	TLS *tls.Config

	// reload returns TLS, after its files were read again; see tlsfiles.
	reload func() (*tls.Config, error)

	// Timeout is the maximum time without any response before the connection is
	// closed: data sent over TCP that the receiver's system has not acknowledged,
	// a RELP command without a response, or a datagram for which the queue has no
	// room. Defaults to 3 s.
	Timeout time.Duration `set:"timeout" default:"3s" doc:"time for any answer"`

	// Stall is the maximum time that the receiver of a stream may stop reading
	// while its system responds, as rsyslog does when its own queue is full.
	// Systems other than Linux cannot detect that over TCP, and Timeout applies.
	// Defaults to 30 s.
	Stall time.Duration `set:"stall" default:"30s" doc:"how long a living receiver may not read"`

	// DialTimeout is the maximum time to connect, including the TLS and RELP
	// handshakes. Defaults to 10 s.
	DialTimeout time.Duration `set:"dial_timeout" default:"10s" doc:"time for connecting"`

	// Window is the maximum number of unacknowledged records with RELP: as many
	// may be duplicated when a connection fails. Defaults to 512.
	Window int `set:"window" default:"512" doc:"records that RELP has in flight"`
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/syslog: "+format, values...))
		}
	}
	fault(c.Facility != "" && facilityOf(c.Facility) < 0, "Facility is not one of RFC 5424: %q",
		c.Facility)
	field := func(name, value string, limit int) {
		fault(value != "" && !isField(value, limit),
			"%s %q is not 1 to %d characters of printable ASCII without spaces", name, value, limit)
	}
	field("AppName", c.AppName, maxAppName)
	field("Hostname", c.Hostname, maxHostname)
	field("MsgID", c.MsgID, maxMsgID)
	fault(c.SequenceID != "" && !isSDName(c.SequenceID),
		"SequenceID %q is not the ID of an element", c.SequenceID)
	c.checkData(fault)
	fault(c.MaxSize != 0 && c.MaxSize < minMaxSize, "MaxSize is less than 480: %d", c.MaxSize)
	fault(c.Timeout != 0 && c.Timeout < minTimeout, "Timeout is less than 1 ms: %v", c.Timeout)
	fault(c.Stall < 0, "Stall is negative: %v", c.Stall)
	fault(c.DialTimeout < 0, "DialTimeout is negative: %v", c.DialTimeout)
	fault(c.Window < 0 || c.Window > maxWindow, "Window is not from 0 to 1048576: %d", c.Window)
	if len(faults) == 0 {
		full := c.withDefaults()
		longest := newEncoder(&full).longestHeader()
		fault(longest+minLine > full.MaxSize,
			"the header has up to %d bytes, which leaves no room for a line in MaxSize %d", longest,
			full.MaxSize)
	}
	return errors.Join(faults...)
}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	if c.Facility == "" {
		c.Facility = "user"
	}
	if c.AppName == "" && len(os.Args) > 0 {
		c.AppName = filepath.Base(os.Args[0])
	}
	if c.Hostname == "" {
		c.Hostname, _ = os.Hostname() // "" becomes -
	}
	target.SetDefaults(&c)
	return c
}

// tlsConfig returns the configuration for a connection to addr, or an error. A
// receiver whose name is not verified may be an impostor, so verification
// cannot be turned off.
func (c Config) tlsConfig(addr string) (*tls.Config, error) {
	t := &tls.Config{}
	if c.TLS != nil {
		t = c.TLS.Clone()
	}
	if t.InsecureSkipVerify {
		return nil, errors.New(
			"nib/syslog: TLS has InsecureSkipVerify; trust a certificate by RootCAs, and give " +
				"the name in it as ServerName")
	}
	if v := t.MinVersion; v != 0 && v < tls.VersionTLS12 {
		return nil, errors.New("nib/syslog: TLS has a MinVersion below 1.2")
	}
	if v := t.MaxVersion; v != 0 && v < tls.VersionTLS12 {
		return nil, errors.New("nib/syslog: TLS has a MaxVersion below 1.2")
	}
	t.MinVersion = max(t.MinVersion, tls.VersionTLS12)
	if t.ServerName == "" {
		host, _, _ := net.SplitHostPort(addr) // "" with an error
		if host == "" {
			return nil, fmt.Errorf(
				"nib/syslog: address %q has no host, and TLS no ServerName to check", addr)
		}
		t.ServerName = host
	}
	return t, nil
}
