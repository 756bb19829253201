// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nib-log/nib"
)

// records makes lines with the numbers first to last of a spool.
func records(spool, first, last uint64) []nib.Record {
	var batch []nib.Record
	for n := first; n <= last; n++ {
		batch = append(batch, nib.Record{
			Time: 1_700_000_000_000_000_000 + int64(n)*1_000_000, Level: nib.LevelInfo, Logger: "db",
			Line: fmt.Appendf(nil, `{"level":"info","n":%d,"message":"hello"}`+"\n", n), Spool: spool, Seq: n,
		})
	}
	return batch
}

// Spools are spread over the partitions.
func TestSpoolsAreSpread(t *testing.T) {
	counts := make([]int, 12)
	for spool := range uint64(12000) {
		counts[homeOf(spool*0x9876543210fedcba, 12)]++
	}
	for p, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("partition %d has %d of 12000 spools", p, n)
		}
	}
}

// A mark decodes to what was encoded, and a mark of another topic or spool is
// not accepted.
func TestMarkCodec(t *testing.T) {
	want := mark{PartitioningRoundRobin, true, place{3, 4, 5}, senders{producer{6, 7}, 8, true}}
	b := want.append(nil, 9)
	if len(b) != markSize || markSize > 40 {
		t.Errorf("got %d bytes", len(b))
	}
	if got, ok := readMark(b, 9); got != want || !ok {
		t.Errorf("got %+v, %v; want %+v", got, ok, want)
	}
	for _, other := range [][]byte{nil, b[1:], append(bytes.Clone(b), 0), append([]byte{1}, b[1:]...), append([]byte{markVersion, 3}, b[2:]...)} {
		if got, ok := readMark(other, 9); ok || !got.spread || !got.senders.any || got.place != nowhere {
			t.Errorf("%x: got %+v, %v; want that nothing is known", other, got, ok)
		}
	}
	if _, ok := readMark(b, 10); ok {
		t.Error("a mark of another topic is one of this topic")
	}
	if p, ok := partitioningOf(b); p != PartitioningRoundRobin || !ok {
		t.Errorf("partitioningOf: got %v, %v", p, ok)
	}
}
