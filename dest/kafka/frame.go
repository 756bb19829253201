// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The names of headers.
const (
	headerLevel  = "level"
	headerTime   = "time"
	headerLogger = "logger"
	headerSpool  = "spool"
	headerSeq    = "seq"
	headerReason = "reason"
)

// Offsets in the header of a record batch, version 2, and its length. The
// checksum covers everything from frameAttributes on, and the length from
// frameLeader on.
const (
	frameLength     = 8
	frameLeader     = 12
	frameCRC        = 17
	frameAttributes = 21
	frameHead       = 61

	attributeTransactional = 1 << 4
	attributeControl       = 1 << 5
)

// recordOverhead is an upper bound of the size of a record without its line,
// name, key and reason.
const recordOverhead = 192

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An encoder encodes records as record batches. It reuses its buffers, so each
// partition has its own encoder.
type encoder struct {
	compressor    kgo.Compressor // nil if there is none
	transactional bool

	plain    []byte       // the records
	packed   bytes.Buffer // compressed
	headers  []byte       // headers of one record
	spool    uint64
	hexSpool [16]byte
	count    int32
	first    int64 // ms
	latest   int64 // ms
}

// reset begins a batch.
func (e *encoder) reset() {
	e.plain, e.count = e.plain[:0], 0
}

// size returns the size of the records so far.
func (e *encoder) size() int { return len(e.plain) }

// add appends a record. With a reason the record is for the dead letter topic,
// and its timestamp is the current time: its own, which may be the reason of
// the refusal, is in a header.
func (e *encoder) add(r *nib.Record, key []byte, reason string) {
	ms := floorMilli(r.Time)
	if reason != "" {
		ms = time.Now().UnixMilli()
	}
	if e.count == 0 {
		e.first, e.latest = ms, ms
	}
	e.latest = max(e.latest, ms)
	value := r.Line
	if n := len(value); n > 0 && value[n-1] == '\n' {
		value = value[:n-1]
	}
	headers := e.appendHeaders(e.headers[:0], r, reason)
	e.headers = headers

	var head [48]byte
	b := append(head[:0], 0) // attributes
	b = binary.AppendVarint(b, ms-e.first)
	b = binary.AppendVarint(b, int64(e.count))
	keyLen := int64(len(key))
	if key == nil {
		keyLen = -1
	}
	b = binary.AppendVarint(b, keyLen)
	beforeKey := len(b)
	b = binary.AppendVarint(b, int64(len(value)))

	out := binary.AppendVarint(e.plain, int64(len(b)+len(key)+len(value)+len(headers)))
	out = append(out, b[:beforeKey]...)
	out = append(out, key...)
	out = append(out, b[beforeKey:]...)
	out = append(out, value...)
	e.plain = append(out, headers...)
	e.count++
}

// appendHeaders appends the count of headers and the headers.
func (e *encoder) appendHeaders(b []byte, r *nib.Record, reason string) []byte {
	n := int64(2)
	if r.Logger != "" {
		n++
	}
	if r.Spool != 0 {
		n += 2
	}
	if reason != "" {
		n++
	}
	b = binary.AppendVarint(b, n)
	b = appendHeader(b, headerLevel, r.Level.String())
	var digits [20]byte
	b = appendHeader(b, headerTime, strconv.AppendInt(digits[:0], r.Time, 10))
	if r.Logger != "" {
		b = appendHeader(b, headerLogger, r.Logger)
	}
	if r.Spool != 0 {
		if e.spool != r.Spool {
			e.spool = r.Spool
			var raw [8]byte
			binary.BigEndian.PutUint64(raw[:], r.Spool)
			hex.Encode(e.hexSpool[:], raw[:])
		}
		b = appendHeader(b, headerSpool, e.hexSpool[:])
		b = appendHeader(b, headerSeq, strconv.AppendUint(digits[:0], r.Seq, 10))
	}
	if reason != "" {
		b = appendHeader(b, headerReason, reason)
	}
	return b
}

func appendHeader[T string | []byte](b []byte, name string, value T) []byte {
	b = binary.AppendVarint(b, int64(len(name)))
	b = append(b, name...)
	b = binary.AppendVarint(b, int64(len(value)))
	return append(b, value...)
}

// frame returns the batch, with the given producer and sequence. The checksum
// is computed last.
func (e *encoder) frame(p producer, sequence int32) []byte {
	records, attributes := e.plain, int16(0)
	if e.compressor != nil {
		e.packed.Reset()
		packed, codec := e.compressor.Compress(&e.packed, e.plain)
		if len(packed) < len(records) {
			records, attributes = packed, int16(codec)
		}
	}
	if e.transactional {
		attributes |= attributeTransactional
	}
	b := kmsg.RecordBatch{
		Length:               int32(frameHead - frameLeader + len(records)),
		PartitionLeaderEpoch: -1,
		Magic:                2,
		Attributes:           attributes,
		LastOffsetDelta:      e.count - 1,
		FirstTimestamp:       e.first,
		MaxTimestamp:         e.latest,
		ProducerID:           p.id,
		ProducerEpoch:        p.epoch,
		FirstSequence:        sequence,
		NumRecords:           e.count,
		Records:              records,
	}
	frame := b.AppendTo(make([]byte, 0, frameHead+len(records)))
	sum := crc32.Checksum(frame[frameAttributes:], castagnoli)
	binary.BigEndian.PutUint32(frame[frameCRC:], sum)
	return frame
}

// floorMilli turns Unix nanoseconds into milliseconds.
func floorMilli(ns int64) int64 {
	return max(ns/1e6, 0) // Kafka has no times before 1970: a negative one means none
}

// codecs are the codecs of batches.
var codecs = map[string]kgo.CompressionCodec{
	"lz4": kgo.Lz4Compression(), "none": kgo.NoCompression(), "snappy": kgo.SnappyCompression(),
	"zstd": kgo.ZstdCompression(), "gzip": kgo.GzipCompression(),
}
