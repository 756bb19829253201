// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Offsets in the header of a record batch that only tests need.
const frameMagic, frameCount = 16, 57

// franz-go decodes the encoder's batches.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"message":"m"}`+"\n"), []byte("key"), "db", int64(1_700_000_000_123_456_789), int16(0), uint64(7), uint64(1), "")
	f.Add([]byte("\n"), []byte(nil), "", int64(-1), int16(-8), uint64(0), uint64(0), "why")
	f.Add(bytes.Repeat([]byte("x"), 70_000), []byte{}, "", int64(1<<62), int16(99), uint64(1<<63), uint64(1<<64-1), "")
	f.Fuzz(func(t *testing.T, line, key []byte, logger string, at int64, level int16, spool, seq uint64, reason string) {
		for _, c := range []string{"none", "lz4"} {
			compress, err := kgo.DefaultCompressor(codecs[c])
			must.Succeed(t, err)
			batch := []nib.Record{
				{Time: at, Level: nib.Level(level), Logger: logger, Line: line, Spool: spool, Seq: seq},
				{Time: 0, Line: []byte("{}\n")},
			}
			e := encoder{compressor: compress}
			e.add(&batch[0], key, reason)
			e.add(&batch[1], nil, "")
			frame := e.frame(producer{3, 4}, 5)
			var b kmsg.RecordBatch
			must.Succeed(t, b.ReadFrom(frame))
			if int(b.Length) != len(frame)-12 || b.Magic != 2 || b.NumRecords != 2 || b.LastOffsetDelta != 1 ||
				b.ProducerID != 3 || b.ProducerEpoch != 4 || b.FirstSequence != 5 ||
				uint32(b.CRC) != crc32.Checksum(frame[21:], crc32.MakeTable(crc32.Castagnoli)) {
				t.Fatalf("header: %+v", b)
			}
			plain, err := kgo.DefaultDecompressor().Decompress(b.Records, kgo.CompressionCodecType(b.Attributes&7))
			must.Succeed(t, err)
			for i := range batch {
				plain = compare(t, plain, &b, &batch[i], int32(i), map[int][]byte{0: key}[i], map[int]string{0: reason}[i])
			}
			if len(plain) > 0 {
				t.Fatalf("%d bytes too many", len(plain))
			}
		}
	})
}

// compare reads one record and compares it with the encoded one.
func compare(t *testing.T, b []byte, head *kmsg.RecordBatch, want *nib.Record, offset int32, key []byte, reason string) []byte {
	t.Helper()
	n, k := binary.Varint(b)
	if k <= 0 || int(n)+k > len(b) {
		t.Fatal("a record is cut off")
	}
	var got kmsg.Record
	must.Succeed(t, got.ReadFrom(b[:int(n)+k]))
	value := bytes.TrimSuffix(want.Line, []byte("\n"))
	if !bytes.Equal(got.Value, value) || !bytes.Equal(got.Key, key) || (got.Key == nil) != (key == nil) || got.OffsetDelta != offset {
		t.Errorf("got key %q, value %q, offset %d", got.Key, got.Value, got.OffsetDelta)
	}
	ms, least, most := head.FirstTimestamp+got.TimestampDelta64, floorMilli(want.Time), floorMilli(want.Time)
	if reason != "" { // a dead letter has a new timestamp
		most = time.Now().UnixMilli()
		least = most - time.Minute.Milliseconds()
	}
	if ms < least || ms > most || ms > head.MaxTimestamp {
		t.Errorf("time: got %d, want %d to %d", ms, least, most)
	}
	headers := map[string]string{}
	for _, h := range got.Headers {
		headers[h.Key] = string(h.Value)
	}
	wanted := map[string]string{"level": want.Level.String(), "time": strconv.FormatInt(want.Time, 10)}
	if want.Logger != "" {
		wanted["logger"] = want.Logger
	}
	if reason != "" {
		wanted["reason"] = reason
	}
	if want.Spool != 0 {
		wanted["seq"] = strconv.FormatUint(want.Seq, 10)
		spool, number, ok := identify(got.Headers)
		if !ok || spool != want.Spool || number != want.Seq {
			t.Errorf("identity: got %x, %d, %v", spool, number, ok)
		}
		delete(headers, "spool")
	}
	if len(headers) != len(wanted) {
		t.Errorf("headers: got %v, want %v", headers, wanted)
	}
	for k, v := range wanted {
		if headers[k] != v {
			t.Errorf("header %s: got %q, want %q", k, headers[k], v)
		}
	}
	return b[int(n)+k:]
}

// For any contents of a partition, reading it returns records or an error.
func FuzzSearch(f *testing.F) {
	e := encoder{}
	for _, r := range records(7, 1, 3) {
		e.add(&r, nil, "")
	}
	f.Add(e.frame(producer{1, 0}, 0))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= frameHead { // otherwise hardly any input passes the checksum
			b = bytes.Clone(b)
			binary.BigEndian.PutUint32(b[frameLength:], uint32(len(b)-frameLeader))
			b[frameMagic] = 2
			binary.BigEndian.PutUint32(b[frameCRC:], crc32.Checksum(b[frameAttributes:], castagnoli))
		}
		s := testSearcher(anySender, kgo.DefaultDecompressor())
		if err := s.batches(b); err == nil && len(s.found.numbers) > 0 &&
			s.found.through != slices.Max(s.found.numbers) {
			t.Errorf("got %+v", s.found)
		}
	})
}

// Kafka's clients choose partitions by the hash Murmur2; the values are from
// Kafka's test.
func TestPartitionOfAKey(t *testing.T) {
	d := testLanes(12, 0)
	for text, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string":                       -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
	} {
		want := int(uint32(hash) & 0x7fffffff % 12)
		if got := d.partitionOf([]byte(text)); got != want || d.choice.keyed.Key != nil {
			t.Errorf("%s: got %d, key %q kept; want %d", text, got, d.choice.keyed.Key, want)
		}
	}
}

// A bomb is a compressor whose output decompresses to 256 MiB of zeros.
type bomb struct{}

func (bomb) Compress(b *bytes.Buffer, _ []byte, _ ...kgo.CompressFlag) ([]byte, kgo.CompressionCodecType) {
	w := gzip.NewWriter(b)
	zeros := make([]byte, 1<<20)
	for range 256 {
		_, _ = w.Write(zeros) // to memory
	}
	_ = w.Close()
	return b.Bytes(), kgo.CodecGzip
}

// Batches of other programs that are larger than the limit are skipped, without
// being decompressed completely.
func TestDecompressionIsBounded(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, "logs", Config{})
	must.Succeed(t, err)
	defer d.Close()
	e := encoder{compressor: bomb{}, plain: make([]byte, 1<<20), count: 1}
	frame := e.frame(producer{3, 4}, 5)
	s := testSearcher(anySender, d.cluster.decompress)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.batch(frame); err != nil || len(s.found.numbers) > 0 || s.at != 1 {
		t.Errorf("got %v, %+v; want that it is passed over", err, s.found)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}
