// SPDX-License-Identifier: Apache-2.0

// Package embedded runs a Kafka cluster in the process, for tests and
// demonstrations. It implements the real protocol, but does not simulate
// failing brokers.
package embedded

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
)

// A Config configures a Cluster. The zero value is usable.
type Config struct {
	Brokers    int    // defaults to 1
	Topic      string // created if not ""
	Partitions int    // number of partitions of Topic; defaults to 1
	Dir        string // directory for records; "" keeps them in memory
}

// A Cluster is an embedded Kafka cluster. It is created by [Start], and listens
// on 127.0.0.1 at ports chosen by the system.
type Cluster struct{ fake *kfake.Cluster }

// Start starts a cluster.
func Start(c Config) (*Cluster, error) {
	opts := []kfake.Opt{kfake.NumBrokers(max(c.Brokers, 1))}
	if c.Topic != "" {
		opts = append(opts, kfake.SeedTopics(int32(max(c.Partitions, 1)), c.Topic))
	}
	if c.Dir != "" {
		opts = append(opts, kfake.DataDir(c.Dir))
	}
	fake, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, fmt.Errorf("nib/kafka/embedded: %w", err)
	}
	return &Cluster{fake}, nil
}

// Addrs returns the addresses of the brokers.
func (c *Cluster) Addrs() []string { return c.fake.ListenAddrs() }

// Close stops the cluster. It does not wait for clients.
func (c *Cluster) Close() { c.fake.Close() }
