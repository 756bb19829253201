// SPDX-License-Identifier: Apache-2.0

package target

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nib-log/nib/dest/kafka"
)

var kafkaOptions = []string{"tls", "ca", "cert", "key", "name", "user", "mechanism", "compression", "client_id", "transactional_id", "dead_letter"}

// passwordVariable is where the password is: command lines are for everyone to read.
const passwordVariable = "NIB_KAFKA_PASSWORD"

var compressions = map[string]kafka.Compression{
	"": kafka.LZ4, "lz4": kafka.LZ4, "none": kafka.NoCompression, "snappy": kafka.Snappy, "zstd": kafka.Zstd, "gzip": kafka.Gzip,
}

// kafka reads the options.
func (t *Target) kafka() (c kafka.Config, err error) {
	c = kafka.Config{
		ClientID: t.options.Get("client_id"), TransactionalID: t.options.Get("transactional_id"),
		DeadLetter: t.options.Get("dead_letter"),
	}
	var ok bool
	if c.Compression, ok = compressions[t.options.Get("compression")]; !ok {
		return c, fmt.Errorf("there is no compression %q (want lz4, none, snappy, zstd or gzip)", t.options.Get("compression"))
	}
	if c.TLS, err = t.tls(); err != nil {
		return c, err
	}
	switch on := t.options.Get("tls"); {
	case on == "on" && c.TLS == nil:
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	case on != "" && on != "on":
		return c, fmt.Errorf("tls is %q (want on)", on)
	}
	user, mechanism := t.options.Get("user"), strings.ToUpper(t.options.Get("mechanism"))
	switch {
	case user != "":
		if mechanism == "" {
			mechanism = kafka.ScramSHA512
		}
		c.SASL = &kafka.SASL{Mechanism: mechanism, User: user, Password: os.Getenv(passwordVariable)}
		if c.SASL.Password == "" {
			return c, fmt.Errorf("%s has no password", passwordVariable)
		}
	case mechanism != "":
		return c, errors.New("mechanism without user")
	}
	return c, c.Validate()
}

func (t *Target) openKafka() (Destination, error) {
	c, err := t.kafka()
	if err != nil {
		return nil, err
	}
	return kafka.Dial(t.Brokers, t.Topic, c)
}
