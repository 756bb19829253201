// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	. "github.com/nib-log/nib/dest/kafka"
)

// A whole delivery, with the broker in the same process, makes far fewer
// allocations than there are records.
func TestDeliverAllocations(t *testing.T) {
	c := start(t, 1)
	d := dial(t, c, Config{})
	const size = 1000
	next := uint64(1)
	batches := make([][]nib.Record, 12) // one for each call of Count
	for i := range batches {
		batches[i] = records(7, next, next+size-1)
		next += size
	}
	i := 0
	got, _ := alloctest.Count(func() {
		deliver(t, d, batches[i])
		i++
	}, 2)
	t.Logf("%v allocations for %d records, the broker's included", got, size)
	if got > size/4 {
		t.Errorf("got %v allocations for %d records", got, size)
	}
}
