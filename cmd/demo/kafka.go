// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nib-log/nib/dest/kafka/embedded"
	"github.com/nib-log/nib/dest/kafka/topic"
)

// A logTopic is the topic that lines go to, if any.
type logTopic struct {
	brokers []string // empty if there is no topic
	name    string
	cluster *embedded.Cluster // nil if it is external
}

const kafkaLimit = 30 * time.Second // limit for creating the topic, and for reading it

// startTopic creates a topic, in a cluster in this process or in an external
// one. The cluster does not run in the worker, which is killed.
func (c Config) startTopic(ctx context.Context) (*logTopic, error) {
	t := &logTopic{name: fmt.Sprintf("nib-demo-%08x", rand.Uint32())}
	switch c.Kafka {
	case NoKafka:
		return t, nil
	case EmbeddedKafka:
		var err error
		if t.cluster, err = embedded.Start(embedded.Config{Topic: t.name}); err != nil {
			return nil, err
		}
		t.brokers = t.cluster.Addrs()
		return t, nil
	}
	t.brokers = strings.Split(c.Kafka, ",")
	ctx, cancel := context.WithTimeout(ctx, kafkaLimit)
	defer cancel()
	if err := topic.Create(ctx, t.brokers, t.name, 1, 1); err != nil {
		return nil, fmt.Errorf("demo: make the topic %s: %w", t.name, err)
	}
	return t, nil
}

func (t *logTopic) close() {
	if t.cluster != nil {
		t.cluster.Close()
	}
}

// describe returns the places to which lines go besides the file.
func (t *logTopic) describe(relp string) (text string) {
	switch {
	case t.cluster != nil:
		text = "\nand to a Kafka topic, on a broker in this process"
	case len(t.brokers) > 0:
		text = fmt.Sprintf("\nand to the Kafka topic %s on %s", t.name, strings.Join(t.brokers, ","))
	}
	if relp != "" {
		text += "\nand by RELP to " + relp
	}
	return text
}
