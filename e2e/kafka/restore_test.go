// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/e2e/restore"
)

// TestRestoredSpoolLosesNoLineEmbedded restores the directory of a spool from a
// backup: the topic has each line once.
func TestRestoredSpoolLosesNoLineEmbedded(t *testing.T) {
	type messages = func() map[string]int
	restore.Run(t, func(t *testing.T) (func() delivery.Destination, messages) {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "logs"))
		must(t, err)
		t.Cleanup(c.Close)
		dial := func() delivery.Destination {
			conf := kafka.Config{TakeoverDelay: time.Millisecond}
			d, err := kafka.New(c.ListenAddrs(), "logs", conf)
			must(t, err)
			return d
		}
		return dial, func() map[string]int { return countLines(t, c) }
	})
}
