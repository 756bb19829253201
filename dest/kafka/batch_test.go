// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// newSearcher returns a searcher for records of spool 7 of any producer.
func newSearcher() *searcher {
	s := testSearcher(anySender, kgo.DefaultDecompressor())
	s.found.spool, s.found.offset = 7, -1
	return s
}

// sealed changes a record batch, and corrects its checksum.
func sealed(b []byte, change func(b []byte)) []byte {
	b = slices.Clone(b)
	change(b)
	binary.BigEndian.PutUint32(b[frameCRC:], crc32.Checksum(b[frameAttributes:], castagnoli))
	return b
}

// frameOf returns a record batch at an offset, with the numbers first to last
// of spool 7.
func frameOf(base int64, first, last uint64) []byte {
	var e encoder
	for _, r := range records(7, first, last) {
		e.add(&r, nil, "")
	}
	b := e.frame(producer{3, 4}, int32(first))
	binary.BigEndian.PutUint64(b, uint64(base))
	return b
}

// Searches of random partitions find the records that a check of each finds.
func TestSearchOfRandomPartitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed.Of(t), 2))
	aborted := 0
	for n := range 2000 {
		data := make([]byte, 3*(1+rng.IntN(12)))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		p := makePartition(data)
		aborted += len(p.aborted)
		s := newSearcher()
		s.l.d.mark.senders = senders{current: producer{5, 1}, previous: 6}
		s.at, s.found.from = rng.Int64N(p.end+1), uint64(rng.IntN(300))
		want := p.find(s.l.d.mark.senders, s.found.from, s.at)
		for s.at < p.end {
			before := s.at
			var b []byte
			b, s.aborted = p.fetch(s.at, 1+rng.IntN(600))
			if err := s.batches(b[:len(b)-rng.IntN(2)*rng.IntN(frameHead)]); err != nil {
				t.Fatalf("partition %d: %v", n, err)
			}
			if s.at == before { // only a part of one batch
				b, s.aborted = p.fetch(s.at, 1)
				if err := s.batches(b); err != nil || s.at == before {
					t.Fatalf("partition %d: offset %d is not passed: %v", n, before, err)
				}
			}
		}
		if !reflect.DeepEqual(s.found, want) {
			t.Fatalf("partition %d\ngot  %+v\nwant %+v", n, s.found, want)
		}
	}
	if aborted < 100 {
		t.Errorf("only %d aborted transactions", aborted)
	}
}

// A response may end within a batch, and compaction leaves batches without
// records. Anything else that is not a record batch is an error.
func TestBatchesOfAResponse(t *testing.T) {
	whole := frameOf(10, 1, 3)
	be := binary.BigEndian
	empty := sealed(frameOf(13, 4, 5)[:frameHead], func(b []byte) {
		be.PutUint32(b[frameLength:], frameHead-frameLeader)
		be.PutUint32(b[frameCount:], 0)
	})
	length := func(n int32) []byte {
		return sealed(whole, func(b []byte) { be.PutUint32(b[frameLength:], uint32(n)) })
	}
	for _, c := range []struct {
		name string
		b    []byte
		at   int64  // the offset after it
		want string // error
	}{
		{"nothing", nil, 0, ""},
		{"one batch", whole, 13, ""},
		{"without records", empty, 15, ""},
		{"two batches", slices.Concat(whole, empty), 15, ""},
		{"a part of the second", slices.Concat(whole, empty[:frameHead-1]), 13, ""},
		{"all but one byte", whole[:len(whole)-1], 0, ""},
		{"a length of -12", length(-frameLeader), 0, ""},
		{"a negative length", length(-1 << 31), 0, ""},
		{"a length below a header's", length(frameHead - frameLeader - 1), 0, ""},
		{"another version", sealed(whole, func(b []byte) { b[frameMagic] = 1 }), 0, "not a record batch"},
		{"a wrong checksum", func() []byte { b := slices.Clone(whole); b[frameCRC]++; return b }(), 0, "not a record batch"},
		{"not compressed as it says", sealed(whole, func(b []byte) { b[frameAttributes+1] = 4 }), 13, "mismatch"},
		{"fewer records than counted", sealed(whole, func(b []byte) { be.PutUint32(b[frameCount:], 4) }), 13, "a record is cut off"},
		{"a record beyond the end", sealed(whole, func(b []byte) { b[frameHead] = 0xfe; b[frameHead+1] = 0x7f }), 13, "a record is cut off"},
		{"a record of negative length", sealed(whole, func(b []byte) { b[frameHead] = 1 }), 13, "a record is cut off"},
		{"a length without end", sealed(whole, func(b []byte) {
			for i := range 12 {
				b[frameHead+i] = 0xff
			}
		}), 13, "a record is cut off"},
		{"a record of no bytes", sealed(whole, func(b []byte) { b[frameHead] = 0 }), 13, "enough data to be valid"},
	} {
		s := newSearcher()
		err := s.batches(c.b)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if s.at != c.at {
			t.Errorf("%s: got to offset %d, want %d", c.name, s.at, c.at)
		}
		if n := len(s.found.numbers); err == nil && n != 3 && c.at >= 13 &&
			c.name != "without records" {
			t.Errorf("%s: got %d records", c.name, n)
		}
	}
}

// A record is one of a spool only if it has the spool's id and a number.
func TestIdentityOfARecord(t *testing.T) {
	spool := kmsg.Header{Key: "spool", Value: []byte("0000000000000007")}
	seq := kmsg.Header{Key: "seq", Value: []byte("12")}
	for name, headers := range map[string][]kmsg.Header{
		"no headers":        nil,
		"no number":         {spool},
		"no spool":          {seq},
		"a damaged number":  {spool, {Key: "seq", Value: []byte("1x")}},
		"a damaged spool":   {{Key: "spool", Value: []byte("g")}, seq},
		"another key":       {spool, {Key: "sequence", Value: []byte("12")}},
		"a damaged spool 2": {seq, {Key: "spool", Value: nil}},
	} {
		if _, _, ok := identify(headers); ok {
			t.Errorf("%s: it is one of a spool", name)
		}
	}
	if id, number, ok := identify([]kmsg.Header{{Key: "level"}, seq, spool}); id != 7 || number != 12 || !ok {
		t.Errorf("got %d, %d, %v; want 7, 12", id, number, ok)
	}
	record := func(headers ...kmsg.Header) []byte {
		b := []byte{0, 0, 0, 1, 2, 'x'} // attributes, time, offset, no key, a value of one byte
		b = binary.AppendVarint(b, int64(len(headers)))
		for _, h := range headers {
			b = appendHeader(b, h.Key, h.Value)
		}
		return append(binary.AppendVarint(nil, int64(len(b))), b...)
	}
	e := encoder{plain: slices.Concat(record(spool), record(spool, seq)), count: 2}
	s := newSearcher()
	err := s.batches(e.frame(producer{3, 4}, 5))
	if err != nil || len(s.found.numbers) != 1 {
		t.Errorf("got %+v, %v; want one record", s.found, err)
	}
	s = newSearcher()
	e = encoder{plain: record(spool), count: 1}
	if err := s.batches(e.frame(producer{3, 4}, 5)); err != nil || s.found.offset >= 0 {
		t.Errorf("a record without a number: got %+v, %v", s.found, err)
	}
}

// Nothing is searched or sent while a partition has no leader.
func TestPartitionWithoutALeader(t *testing.T) {
	l := testLane(1)
	if _, err := l.search(t.Context(), 7, 1, origin{}); err != errNoLeader {
		t.Errorf("search: got %v", err)
	}
	if _, err := l.produce(t.Context(), queued(1, 1, 0)); err != errNoLeader {
		t.Errorf("produce: got %v", err)
	}
}

// Encoding a batch allocates nothing per record, for every compression.
func TestEncodeAllocatesNothingPerRecord(t *testing.T) {
	batch := records(7, 1, 1000)
	for _, c := range []string{"lz4", "none", "snappy", "zstd"} {
		compress, err := kgo.DefaultCompressor(codecs[c])
		must.Succeed(t, err)
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
