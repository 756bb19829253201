// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"runtime"
	"testing"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
)

// mallocs returns how many allocations f makes, the minimum of several runs.
func mallocs(f func()) uint64 {
	least := ^uint64(0)
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// A whole delivery, with the broker in the same process, makes far fewer
// allocations than there are records.
func TestDeliverAllocations(t *testing.T) {
	c := start(t, 1)
	d := dial(t, c, Config{})
	const size = 1000
	next := uint64(1)
	batches := make([][]nib.Record, 12)
	for i := range batches {
		batches[i] = records(7, next, next+size-1)
		next += size
	}
	i := 0
	got := mallocs(func() {
		deliver(t, d, batches[i])
		i++
	})
	t.Logf("%d allocations for %d records, the broker's included", got, size)
	if got > size/4 {
		t.Errorf("got %d allocations for %d records", got, size)
	}
}
