// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"os"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// dialBroker connects to the broker that dest/kafka/kfaketest has started.
func dialBroker(t *testing.T) *Destination {
	t.Helper()
	addr := os.Getenv("NIB_TEST_BROKER")
	if addr == "" {
		t.Skip("needs a broker: the tests of dest/kafka/kfaketest start one, and run it")
	}
	d, err := New([]string{addr}, "logs", Config{})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// deliverAll delivers the records with the numbers first to last of spool 7.
func deliverAll(t *testing.T, d *Destination, first, last uint64) {
	t.Helper()
	for first <= last {
		res, err := d.Deliver(t.Context(), records(7, first, last))
		if err != nil || len(res.Rejected) > 0 {
			t.Fatalf("got %+v, %v", res, err)
		}
		first += uint64(res.Accepted)
	}
}
