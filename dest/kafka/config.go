// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib"
)

// A Partitioning says to which partition of the topic a record goes. The number
// of partitions is that of the first delivery; partitions that are added later are
// used from the next start on.
type Partitioning int

// The ways of partitioning.
const (
	// PerSpool puts all records of a spool into one partition, chosen by the
	// spool's id: they stay in order, and each is there exactly once even if the
	// process is killed. One partition takes all the load of a process.
	PartitioningPerSpool Partitioning = iota

	// Keyed chooses the partition by Config.Key, as Kafka's own clients do. Order
	// holds among records of the same key only. A process that was killed
	// waits for Config.Quiet and looks through all partitions before it goes on;
	// a request of its that a broker executes later than that comes twice.
	PartitioningKeyed

	// RoundRobin spreads records over all partitions by their number. There is no
	// order. After a kill the same holds as for Keyed.
	PartitioningRoundRobin
)

// A Compression is how record batches are compressed.
type Compression int

// The compressions. CompressionLZ4 is the default: it costs about a third of a
// microsecond per line of 250 bytes, makes JSON several times smaller, and
// every client reads it. CompressionZstd is smaller and slower, CompressionGzip
// slowest.
const (
	CompressionLZ4 Compression = iota
	CompressionNone
	CompressionSnappy
	CompressionZstd
	CompressionGzip
)

// The mechanisms of [SASL].
const (
	SASLPlain       = "PLAIN"
	SASLScramSHA256 = "SCRAM-SHA-256"
	SASLScramSHA512 = "SCRAM-SHA-512"
)

// SASL is the user that logs in to the brokers. With SASLPlain the password
// itself crosses the network, so it needs TLS.
type SASL struct {
	Mechanism      string // SASLPlain, SASLScramSHA256 or SASLScramSHA512
	User, Password string
	AllowClearText bool // allows SASLPlain without TLS: anyone who can read the packets learns the password
}

const (
	defaultClientID  = "nib"
	defaultMaxBatch  = 1000000 // below message.max.bytes of a broker, 1048588
	defaultTimeout   = 10 * time.Second
	defaultPatience  = 10 * time.Second
	defaultQuiet     = time.Second
	defaultTxTimeout = time.Minute
)

// maxFrame is how long a record batch may be at all: a broker closes the
// connection of whoever sends a request of more than 100 MiB.
const maxFrame = 100<<20 - 4096

// A Config says how records get to the brokers. The zero value is usable.
type Config struct {
	// ClientID is what brokers call this client in their logs, metrics and quotas.
	// Defaults to "nib".
	ClientID string

	// Partitioning defaults to PerSpool.
	Partitioning Partitioning

	// Key returns the key of a record, for Keyed. Without a key (nil) a record goes to
	// the partition of its spool. The result may lie within the record; it
	// must be the same whenever it is asked for.
	Key func(*nib.Record) []byte

	// Compression defaults to LZ4.
	Compression Compression

	// MaxBatch is how many bytes the records of one batch have at most before compression,
	// unless it is one record. Defaults to 1,000,000. If a broker takes less, a batch is
	// halved until it fits.
	MaxBatch int

	// TLS makes connections encrypted. The name of a broker is checked, unless
	// the tls.Config says otherwise.
	TLS *tls.Config

	// SASL logs in to the brokers.
	SASL *SASL

	// TransactionalID makes each batch of the spool a transaction under
	// this name, which no two processes may have at the same time: the later one shuts the
	// earlier one out. With it nothing is ever there twice for consumers that read
	// committed records only (isolation.level=read_committed); others see what
	// was aborted. It needs PerSpool, and costs about four more round trips for each batch.
	TransactionalID string

	// DeadLetter is a topic for records that brokers refuse, with the reason in the header "reason". Their
	// timestamp is that of the moment; their own is in the header "time". Without it, or if it refuses them too, a
	// record is rejected if others around it are accepted; else it waits, since the reason can be mended.
	DeadLetter string

	// CreateTopic lets brokers create the topics that do not exist, if they are
	// set up to do so (auto.create.topics.enable). By default a topic that does not exist is an error, reported and
	// waited for: its name may be mistyped.
	CreateTopic bool

	// Timeout is how long a broker has to answer. Defaults to 10 s.
	Timeout time.Duration

	// Patience is how long one call of Deliver goes on trying before it tells
	// why it did not succeed. Nothing is given up: a spool calls again. Negative means until its
	// context ends. Defaults to 10 s.
	Patience time.Duration

	// Quiet is how long a process that finds records left by another one waits before it
	// looks whether they are in the topic already, when it cannot continue as the same
	// producer: requests of the dead process may still be on their way. Defaults to 1 s.
	Quiet time.Duration

	// OnError is told why an attempt failed, each time, by the goroutine that
	// called Deliver.
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
	fault(c.Partitioning < PartitioningPerSpool || c.Partitioning > PartitioningRoundRobin, "Partitioning is unknown: %d", c.Partitioning)
	fault((c.Key != nil) != (c.Partitioning == PartitioningKeyed), "Key without Keyed, or Keyed without Key")
	fault(c.Compression < CompressionLZ4 || c.Compression > CompressionGzip, "Compression is unknown: %d", c.Compression)
	fault(c.MaxBatch < 0 || c.MaxBatch > maxFrame, "MaxBatch is not from 0 to %d: %d", maxFrame, c.MaxBatch)
	fault(c.Timeout < 0, "Timeout is negative: %v", c.Timeout)
	fault(c.Quiet < 0, "Quiet is negative: %v", c.Quiet)
	fault(c.TransactionalID != "" && c.Partitioning != PartitioningPerSpool, "TransactionalID needs PerSpool")
	if s := c.SASL; s != nil {
		fault(s.Mechanism != SASLPlain && s.Mechanism != SASLScramSHA256 && s.Mechanism != SASLScramSHA512,
			"SASL has an unknown mechanism: %q", s.Mechanism)
		fault(s.Mechanism == SASLPlain && c.TLS == nil && !s.AllowClearText,
			"SASL with PLAIN would send the password in clear text: set TLS, use SCRAM-SHA-512, or set SASL.AllowClearText")
	}
	return errors.Join(faults...)
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.ClientID == "" {
		c.ClientID = defaultClientID
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = defaultMaxBatch
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	if c.Quiet == 0 {
		c.Quiet = defaultQuiet
	}
	return c
}
