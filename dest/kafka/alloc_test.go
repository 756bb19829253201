// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"runtime"
	"testing"
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

// Encoding a batch allocates nothing per record, for every compression.
func TestEncodeAllocatesNothingPerRecord(t *testing.T) {
	batch := records(7, 1, 1000)
	for _, c := range []Compression{CompressionLZ4, CompressionNone, CompressionSnappy, CompressionZstd} {
		compress, err := compressor(c)
		if err != nil {
			t.Fatal(err)
		}
		e := encoder{compressor: compress}
		var frame []byte
		got := mallocs(func() {
			e.reset()
			for i := range batch {
				e.add(&batch[i], nil, "")
			}
			frame = e.frame(frame[:0], producer{1, 2}, 3)
		})
		if got > 20 {
			t.Errorf("compression %d: %d allocations for a batch of %d", c, got, len(batch))
		}
	}
}
