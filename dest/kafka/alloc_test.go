// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Encoding a batch allocates nothing per record, for every compression.
func TestEncodeAllocatesNothingPerRecord(t *testing.T) {
	batch := records(7, 1, 1000)
	for _, c := range []string{"lz4", "none", "snappy", "zstd"} {
		compress, err := kgo.DefaultCompressor(codecs[c])
		if err != nil {
			t.Fatal(err)
		}
		e := encoder{compressor: compress}
		got, _ := alloctest.Count(func() {
			e.reset()
			for i := range batch {
				e.add(&batch[i], nil, "")
			}
			_ = e.frame(producer{1, 2}, 3)
		}, 1)
		if got > 20 {
			t.Errorf("compression %s: %v allocations for a batch of %d", c, got, len(batch))
		}
	}
}
