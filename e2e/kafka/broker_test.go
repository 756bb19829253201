// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"testing"

	"github.com/nib-log/nib/e2e/kafka/cluster"
)

func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	c := cluster.Start(t, 1)
	c.Create("logs", 1)
}
