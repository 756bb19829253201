// SPDX-License-Identifier: Apache-2.0

// Package target reads what --to says: where lines are to be delivered.
package target

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/nib-log/nib/delivery"
)

// Help describes the targets, for commands that take one.
const Help = `  file:PATH                      appended to a file; ?max_size=100MB&every=24h&backups=5&max_age=168h&compress=gzip
  relp://HOST:PORT               syslog with acknowledgement (RELP); relp+tls://HOST:PORT
  tcp://HOST:PORT                syslog, octets counted (RFC 6587); tls://HOST:PORT (RFC 5425)
  unix:PATH                      syslog over a unix stream socket; unixgram:PATH for datagrams
                                 all of syslog: ?app=NAME&facility=local0&hostname=HOST&msgid=ID&sequence_id=nib@32473&max_size=64KiB
  kafka://BROKER,BROKER/TOPIC    ?compression=zstd&client_id=ID&transactional_id=ID&dead_letter=TOPIC&create_topic=on&tls=on
                                 ?partitioning=per_spool|round_robin|keyed&key_field=NAME, by default as the service did
                                 ?user=NAME&mechanism=scram-sha-512, the password in the environment: NIB_KAFKA_PASSWORD
                                 TLS of syslog and kafka: ?ca=FILE&cert=FILE&key=FILE&name=HOST`

// A Target is where lines go. It is made by [Parse].
type Target struct {
	Network string   // file, kafka, or a network of dest/syslog
	Address string   // the path of a file or socket, or host:port
	Brokers []string // of kafka
	Topic   string

	text    string
	options url.Values
}

// A Destination is one that can be closed.
type Destination interface {
	delivery.Destination
	Close() error
}

// networks are those of syslog. What is true goes to a path.
var networks = map[string]bool{"tcp": false, "tls": false, "relp": false, "relp+tls": false, "unix": true, "unixgram": true}

// Parse reads a target. It opens nothing but the files of certificates.
func Parse(text string) (*Target, error) {
	t, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", text, err)
	}
	return t, nil
}

var errScheme = errors.New("want file:PATH, relp://HOST:PORT, relp+tls://, tcp://, tls://, unix:PATH, unixgram:PATH or kafka://BROKER/TOPIC")

func parse(text string) (*Target, error) {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok {
		return nil, errScheme
	}
	t := &Target{Network: strings.TrimPrefix(scheme, "syslog+"), text: text}
	if t.Network == "file" {
		_, err := t.file()
		return t, err
	}
	isPath, isSyslog := networks[t.Network]
	if !isSyslog && t.Network != "kafka" {
		return nil, errScheme
	}
	rest, query, _ := strings.Cut(rest, "?")
	var err error
	if t.options, err = url.ParseQuery(query); err != nil {
		return nil, err
	}
	switch {
	case isPath:
		t.Address, err = url.PathUnescape(strings.TrimPrefix(rest, "//"))
		if err == nil && t.Address == "" {
			err = errors.New("the path of the socket is missing")
		}
	case isSyslog:
		t.Address = strings.TrimPrefix(rest, "//")
		err = hostPort(t.Address)
	default:
		err = t.readKafka(strings.TrimPrefix(rest, "//"))
	}
	if err != nil {
		return nil, err
	}
	if err := t.checkOptions(); err != nil {
		return nil, err
	}
	if t.Network == "kafka" {
		_, err = t.kafka()
	} else {
		_, err = t.syslog()
	}
	return t, err
}

// checkOptions finds options that there are not.
func (t *Target) checkOptions() error {
	known := syslogOptions
	if t.Network == "kafka" {
		known = kafkaOptions
	}
	for name, values := range t.options {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no option %q (want %s)", name, strings.Join(known, ", "))
		}
		if len(values) != 1 {
			return fmt.Errorf("the option %q is there twice", name)
		}
	}
	return nil
}

// hostPort says what is wrong with an address.
func hostPort(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && (host == "" || port == "") {
		err = errors.New("want HOST:PORT")
	}
	return err
}

func (t *Target) readKafka(rest string) error {
	brokers, topic, _ := strings.Cut(rest, "/")
	t.Brokers, t.Topic = strings.Split(brokers, ","), topic
	for _, b := range t.Brokers {
		if err := hostPort(b); err != nil {
			return fmt.Errorf("broker: %w", err)
		}
	}
	if topic == "" || strings.Contains(topic, "/") {
		return errors.New("want kafka://BROKER,BROKER/TOPIC")
	}
	return nil
}

// String gives the target as it was written.
func (t *Target) String() string { return t.text }

// Open makes the destination, or opens the file. mark is what the destination of a service has stored in
// the spool that is to be delivered, nil without one. The caller closes what Open returns.
func (t *Target) Open(mark []byte) (Destination, error) {
	var d Destination
	var err error
	switch t.Network {
	case "file":
		d, err = t.openFile()
	case "kafka":
		d, err = t.openKafka(mark)
	default:
		d, err = t.openSyslog()
	}
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", t.text, err)
	}
	return d, nil
}
