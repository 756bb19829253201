// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/target"
)

// A partitioning selects the partition of a record. It is stored in marks.
type partitioning byte

const (
	perSpool partitioning = iota
	keyed
	roundRobin
)

// partitioning returns how the partitions of records are selected.
func (c *Config) partitioning() partitioning {
	switch {
	case c.Key != nil:
		return keyed
	case c.RoundRobin:
		return roundRobin
	}
	return perSpool
}

// SASL has the credentials for the brokers. With PLAIN the password itself
// crosses the network, so it needs TLS.
type SASL struct {
	Mechanism      string // "PLAIN", "SCRAM-SHA-256" or "SCRAM-SHA-512"
	User, Password string
	// Allows PLAIN without TLS: anyone who can read the packets learns the
	// password.
	AllowClearText bool
}

// The mechanisms of SASL.
const (
	plainText   = "PLAIN"
	scramSHA256 = "SCRAM-SHA-256"
	scramSHA512 = "SCRAM-SHA-512"
)

const (
	defaultMaxBatch  = 1000000 // below message.max.bytes of a broker, 1048588
	defaultTxTimeout = time.Minute
)

// maxFrame is the maximum size of a record batch: a broker closes the
// connection on a request of more than 100 MiB.
const maxFrame = 100<<20 - 4096

// The limits of the client.
const (
	maxTimeout  = 15 * time.Minute
	maxClientID = 256
)

// A Config configures a Destination. The zero value is usable.
type Config struct {
	// ClientID identifies this client in the logs, metrics and quotas of
	// brokers, with at most 256 bytes. Defaults to "nib".
	ClientID string `set:"client_id" default:"nib" doc:"name of the client in logs, metrics and quotas of brokers"`

	// Key returns the key of a record, which chooses its partition as in Kafka's
	// clients. Only records of the same key are in order. After a process was
	// killed, the next one waits for TakeoverDelay and searches all partitions
	// before it continues; a request of the killed process that a broker executes
	// later is duplicated.
	//
	// If Key returns nil or panics, the record has no key and goes to the
	// partition of its spool. The result may alias the record, and must be the
	// same on each call. Key is called by several goroutines, one for each
	// partition.
	//
	// Without Key and RoundRobin, all records with the same Spool are written to
	// one partition, chosen by that number: they stay in order, and each is
	// written exactly once even if the process is killed. A single partition
	// takes the whole load of a process.
	//
	// The number of partitions is determined at the first delivery; partitions
	// that are added later are used after the next start.
	Key func(*nib.Record) []byte

	// RoundRobin spreads records over all partitions by their number, without an
	// order. After a kill the same applies as with Key.
	RoundRobin bool

	// Compression is the codec of batches: "lz4", "none", "snappy", "zstd" or
	// "gzip". Defaults to lz4: it costs about a third of a microsecond per line of
	// 250 bytes, makes JSON several times smaller, and every client reads it. zstd
	// is smaller and slower, gzip slowest.
	Compression string `set:"compression" is:"lz4|none|snappy|zstd|gzip" default:"lz4" doc:"how batches are compressed"`

	// MaxBatch is the maximum size in bytes of the records of a batch before
	// compression; a single record may exceed it. If a broker accepts less, the
	// batch is halved until it fits. Defaults to 1,000,000.
	MaxBatch int `set:"max_batch" is:"size" default:"1000000B" doc:"size of a batch before compression"`

	// TLS enables TLS. The host name of a broker is verified, unless the
	// tls.Config disables that.
	TLS *tls.Config

	certificates *certificates // of TLS, nil if they are not in files

	// SASL authenticates to the brokers. Defaults to nil, no authentication.
	SASL *SASL

	// TransactionalID makes each batch a transaction with this id, which no two
	// processes may use at the same time: the later one fences the earlier one.
	// For consumers that read committed records only
	// (isolation.level=read_committed), it prevents duplicates, with the
	// exceptions in docs/kafka.md; other consumers also see aborted records. It
	// excludes Key and RoundRobin, and costs about four more round trips for
	// each batch.
	TransactionalID string `set:"transactional_id" default:"none" doc:"each batch is a transaction under this id"`

	// DeadLetter is a topic for records that brokers refuse, with the reason in
	// the header "reason". Their timestamp is the current time; their own is in
	// the header "time". A record may be there twice after a lost response or a
	// kill. Without DeadLetter, or if this topic refuses it too, a record is
	// rejected if others around it are accepted; otherwise it waits, since the
	// reason can be fixed.
	DeadLetter string `set:"dead_letter" default:"none" doc:"topic for records that brokers refuse"`

	// CreateTopic lets brokers create a missing topic, if they are configured to
	// do so (auto.create.topics.enable). By default Deliver reports a missing
	// topic as an error and waits for it, since its name may be mistyped.
	CreateTopic bool `set:"create_topic" default:"off" doc:"brokers may create the topic"`

	// Timeout is the maximum time for the response of a broker, at most 15 min.
	// Defaults to 10 s.
	Timeout time.Duration `set:"timeout" default:"10s" doc:"time for an answer of a broker"`

	// TakeoverDelay is the delay before a process that takes over the records
	// of another one checks whether they are in the topic already, if it
	// cannot continue as the same producer: requests of the dead process may
	// still arrive. Defaults to 1 s.
	TakeoverDelay time.Duration `set:"takeover_delay" default:"1s" doc:"how long requests of a dead process are waited for, where that is needed"`

	// OnError is called with the error of each failed attempt, by the goroutine
	// that called Deliver or Resume. A result of Fork calls it, too, possibly
	// at the same time. It must not call Close, which waits for it.
	OnError func(error)
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/kafka: "+format, values...))
		}
	}
	fault(c.Key != nil && c.RoundRobin, "Key with RoundRobin: leave out one of them")
	_, known := codecs[c.Compression]
	fault(!known && c.Compression != "", "Compression is unknown: %q", c.Compression)
	fault(c.MaxBatch < 0 || c.MaxBatch > maxFrame, "MaxBatch is not from 0 to %d: %d", maxFrame,
		c.MaxBatch)
	fault(c.Timeout < 0 || c.Timeout > maxTimeout, "Timeout is not from 0 to %v: %v",
		maxTimeout, c.Timeout)
	fault(len(c.ClientID) > maxClientID, "ClientID is longer than %d bytes", maxClientID)
	fault(c.TakeoverDelay < 0, "TakeoverDelay is negative: %v", c.TakeoverDelay)
	fault(c.TransactionalID != "" && c.partitioning() != perSpool,
		"TransactionalID with Key or RoundRobin")
	if s := c.SASL; s != nil {
		fault(s.Mechanism != plainText && s.Mechanism != scramSHA256 && s.Mechanism != scramSHA512,
			"SASL has an unknown mechanism: %q", s.Mechanism)
		fault(s.Mechanism == plainText && c.TLS == nil && !s.AllowClearText,
			"SASL with PLAIN would send the password in clear text: set TLS, use SCRAM-SHA-512, or set SASL.AllowClearText")
	}
	return errors.Join(faults...)
}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	c.ClientID = cmp.Or(c.ClientID, "nib")
	c.Compression = cmp.Or(c.Compression, "lz4")
	target.SetDefaults(&c)
	return c
}
