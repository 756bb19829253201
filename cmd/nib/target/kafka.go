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

var kafkaOptions = []string{"tls", "ca", "cert", "key", "name", "user", "mechanism", "compression", "client_id", "transactional_id", "dead_letter", "partitioning", "key_field", "create_topic", "allow_clear_text"}

// passwordVariable is where the password is: command lines are for everyone to read.
const passwordVariable = "NIB_KAFKA_PASSWORD"

var compressions = map[string]kafka.Compression{
	"": kafka.CompressionLZ4, "lz4": kafka.CompressionLZ4, "none": kafka.CompressionNone, "snappy": kafka.CompressionSnappy, "zstd": kafka.CompressionZstd, "gzip": kafka.CompressionGzip,
}

var partitionings = map[string]kafka.Partitioning{
	"": kafka.PartitioningPerSpool, "per_spool": kafka.PartitioningPerSpool, "keyed": kafka.PartitioningKeyed, "round_robin": kafka.PartitioningRoundRobin,
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
	if err = t.partitioning(&c); err != nil {
		return c, err
	}
	if c.TLS, err = t.tls(); err != nil {
		return c, err
	}
	for _, name := range []string{"tls", "create_topic", "allow_clear_text"} {
		if on := t.options.Get(name); on != "" && on != "on" {
			return c, fmt.Errorf("%s is %q (want on)", name, on)
		}
	}
	if t.options.Get("tls") != "" && c.TLS == nil {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	c.CreateTopic = t.options.Get("create_topic") != ""
	user, mechanism := t.options.Get("user"), strings.ToUpper(t.options.Get("mechanism"))
	switch {
	case user != "":
		if mechanism == "" {
			mechanism = kafka.SASLScramSHA512
		}
		c.SASL = &kafka.SASL{
			Mechanism: mechanism, User: user, Password: os.Getenv(passwordVariable),
			AllowClearText: t.options.Get("allow_clear_text") != "",
		}
		if c.SASL.Password == "" {
			return c, fmt.Errorf("%s has no password", passwordVariable)
		}
	case mechanism != "":
		return c, errors.New("mechanism without user")
	}
	return c, c.Validate()
}

// partitioning reads how partitions are chosen.
func (t *Target) partitioning(c *kafka.Config) error {
	how, field := t.options.Get("partitioning"), t.options.Get("key_field")
	if how == "" && field != "" {
		how = "keyed"
	}
	var ok bool
	if c.Partitioning, ok = partitionings[how]; !ok {
		return fmt.Errorf("there is no partitioning %q (want per_spool, round_robin or keyed)", how)
	}
	if (c.Partitioning == kafka.PartitioningKeyed) != (field != "") {
		return errors.New("keyed needs key_field=NAME, the field of a line that is its key, and only keyed has one")
	}
	if field != "" {
		c.Key = kafka.KeyField(field)
	}
	return nil
}

// openKafka makes a destination that chooses partitions as the service did whose spool has the mark, unless
// the target says how.
func (t *Target) openKafka(mark []byte) (Destination, error) {
	c, err := t.kafka()
	if err != nil {
		return nil, err
	}
	service, known := kafka.PartitioningOf(mark)
	if known && t.options.Get("partitioning") == "" && service != c.Partitioning {
		switch {
		case service == kafka.PartitioningKeyed:
			return nil, errors.New("its service chooses partitions by a key: add key_field=NAME with the field that is the key, " +
				"or partitioning=per_spool to put what is left into one partition without keys")
		case c.Partitioning == kafka.PartitioningKeyed:
			return nil, errors.New("its service does not choose partitions by a key: leave out key_field, or add partitioning=keyed to do so")
		}
		c.Partitioning = service
	}
	return kafka.New(t.Brokers, t.Topic, c)
}
