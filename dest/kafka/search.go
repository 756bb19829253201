// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	fetchBytes = 8 << 20
	fetchWait  = 100 // ms
	fetchTries = 20  // empty fetches before a search gives up

	// Special times of ListOffsets: the end of the partition, and its first
	// record.
	latest, oldest = -1, -2

	// The kind of client that requests offsets: a consumer gets the end of the
	// records that all in-sync replicas have, without open transactions; a
	// debugger gets the end of the leader's log.
	asConsumer, asDebugger = -1, -2
)

// A finding is the result of a search for records of a spool.
type finding struct {
	spool    uint64
	from     uint64   // lower numbers are ignored
	deleted  bool     // a part was deleted before it was read
	numbers  []uint64 // of the records, in the order of the partition
	through  uint64   // the highest number
	producer producer // producer of the last batch
	next     int32    // sequence after that batch
	offset   int64    // offset of the last record
	end      int64    // the offset up to which the partition was read
}

// A searcher reads a partition from an offset to its end.
type searcher struct {
	l     *lane
	spool uint64
	at    int64
	found finding

	aborted  []kmsg.FetchResponseTopicPartitionAbortedTransaction
	dropping map[int64]bool // producers whose batches belong to an aborted transaction
}

// search searches for records of spool with numbers from from on, between start
// and the current end of the partition. It ignores records of transactions that
// were not committed.
func (l *lane) search(ctx context.Context, spool, from uint64, start origin) (finding, error) {
	l.d.counters.add(func(s *Stats) { s.Searches++ })
	if l.leader < 0 {
		return finding{}, errNoLeader
	}
	s := &searcher{l: l, spool: spool, dropping: map[int64]bool{}}
	// Records that the leader has and other replicas do not have yet cannot be
	// read. A search that stopped before them would miss records that become
	// visible later.
	end, err := l.offsetAt(ctx, latest, asDebugger)
	if err != nil {
		return finding{}, err
	}
	s.at = start.offset
	// Beyond the end: the topic was truncated, or is another one.
	elsewhere := s.at < 0 || s.at > end
	if elsewhere || l.d.id == [16]byte{} { // without an id, it may be another one as well
		at, err := l.offsetAt(ctx, start.time, asConsumer)
		if err != nil {
			return finding{}, err
		}
		if at < 0 { // no record from that time on can be read
			if at, err = l.offsetAt(ctx, latest, asConsumer); err != nil {
				return finding{}, err
			}
		}
		if elsewhere || at < s.at {
			s.at = at
		}
	}
	s.found.spool, s.found.from, s.found.offset = spool, from, -1
	for tries := 0; s.at < end; tries++ {
		before := s.at
		if err := s.fetch(ctx); err != nil {
			return finding{}, err
		}
		if s.at > before {
			tries = 0
		}
		if tries == fetchTries {
			return finding{}, errIncomplete
		}
	}
	s.found.end = end
	return s.found, nil
}

// An origin is the place where a search begins: an offset or, if offset is
// negative, the first record of a time in Unix milliseconds.
type origin struct{ offset, time int64 }

// offsetAt requests the offset for a time.
func (l *lane) offsetAt(ctx context.Context, ms int64, replica int32) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = replica, l.isolation()
	t, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	t.Topic, p.Partition, p.Timestamp = l.topic, l.partition, ms
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.ListOffsetsResponse](ctx, &l.d.c, l.broker(), req)
	if err != nil {
		return 0, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			return p.Offset, brokerError("list offsets of", l.topic, p.ErrorCode, nil)
		}
	}
	return 0, errIncomplete
}

func (l *lane) isolation() int8 {
	if l.d.c.TransactionalID != "" {
		return 1
	}
	return 0
}

// fetch continues to read at s.at.
func (s *searcher) fetch(ctx context.Context) error {
	l := s.l
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = asConsumer, fetchWait, 1,
		fetchBytes
	req.IsolationLevel, req.SessionEpoch = l.isolation(), -1
	t, p := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	t.Topic, p.Partition, p.FetchOffset, p.PartitionMaxBytes = l.topic, l.partition, s.at,
		fetchBytes
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.FetchResponse](ctx, &l.d.c, l.broker(), req)
	if err != nil {
		return err
	}
	if err := brokerError("read", l.topic, resp.ErrorCode, nil); err != nil {
		return err
	}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			if p.ErrorCode == kerr.OffsetOutOfRange.Code {
				return s.skipDeleted(ctx)
			}
			if err := brokerError("read", l.topic, p.ErrorCode, nil); err != nil {
				return err
			}
			s.aborted = p.AbortedTransactions
			if err := s.batches(p.RecordBatches); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipDeleted moves to the first record that retention or DeleteRecords has not
// deleted. Brokers do not report the start of the log with OFFSET_OUT_OF_RANGE.
func (s *searcher) skipDeleted(ctx context.Context) error {
	start, err := s.l.offsetAt(ctx, oldest, asConsumer)
	if err != nil {
		return err
	}
	if start <= s.at {
		return brokerError("read", s.l.topic, kerr.OffsetOutOfRange.Code, nil)
	}
	s.at, s.found.deleted = start, true
	return nil
}

// batches reads the record batches of a response. The last one may be
// incomplete.
func (s *searcher) batches(b []byte) error {
	for len(b) >= frameHead {
		n := int64(int32(binary.BigEndian.Uint32(b[frameLength:]))) + frameLeader
		if n < frameHead || n > int64(len(b)) {
			break
		}
		if err := s.batch(b[:n]); err != nil {
			return fmt.Errorf("nib/kafka: read %s, partition %d, offset %d: %w", s.l.topic,
				s.l.partition, s.at, err)
		}
		b = b[n:]
	}
	return nil
}

// batch reads one record batch.
func (s *searcher) batch(b []byte) error {
	var head kmsg.RecordBatch
	if err := head.UnsafeReadFrom(b); err != nil || head.Magic != 2 ||
		uint32(head.CRC) != crc32.Checksum(b[frameAttributes:], castagnoli) {
		return errors.New("not a record batch")
	}
	base, last := head.FirstOffset, int64(head.LastOffsetDelta)
	if base+last < s.at {
		return nil
	}
	s.at = base + last + 1
	p := producer{head.ProducerID, head.ProducerEpoch}
	aborted := s.isAborted(p.id, base)
	if head.Attributes&attributeControl != 0 {
		delete(s.dropping, p.id) // the batch ends its transaction
		return nil
	}
	if aborted {
		return nil
	}
	if !s.l.d.mark.senders.has(p.id) {
		return nil // a batch of another producer, regardless of its headers
	}
	codec := kgo.CompressionCodecType(head.Attributes & 7)
	records, err := s.l.d.cluster.decompress.Decompress(head.Records, codec)
	if errors.Is(err, kgo.ErrMaxDecompress) {
		return nil
	}
	if err != nil {
		return err
	}
	var r kmsg.Record
	for range head.NumRecords {
		n, k := binary.Varint(records)
		if k <= 0 || n < 0 || n > int64(len(records)-k) {
			return errors.New("a record is cut off")
		}
		whole := records[:k+int(n)]
		records = records[len(whole):]
		if err := r.ReadFrom(whole); err != nil {
			return err
		}
		spool, number, ok := identify(r.Headers)
		if !ok || spool != s.spool {
			continue
		}
		f := &s.found
		f.producer, f.next = p, advance(head.FirstSequence, int(last)+1)
		f.offset = max(f.offset, base+int64(r.OffsetDelta))
		if number < f.from {
			continue
		}
		f.through = max(f.through, number)
		f.numbers = append(f.numbers, number)
	}
	return nil
}

// isAborted reports whether a batch belongs to an aborted transaction. The
// search may have begun within the transaction, so the first batch may be
// missing. Each entry is used once: the producer's next transaction is another
// one.
func (s *searcher) isAborted(producer, offset int64) bool {
	s.aborted = slices.DeleteFunc(s.aborted, func(
		a kmsg.FetchResponseTopicPartitionAbortedTransaction,
	) bool {
		if a.ProducerID != producer || a.FirstOffset > offset {
			return false
		}
		s.dropping[producer] = true
		return true
	})
	return s.dropping[producer]
}

// identify returns the identity of a record from its headers.
func identify(headers []kmsg.Header) (spool, number uint64, ok bool) {
	var have int
	for _, h := range headers {
		var err error
		switch h.Key {
		case headerSpool:
			spool, err = strconv.ParseUint(string(h.Value), 16, 64)
			have++
		case headerSeq:
			number, err = strconv.ParseUint(string(h.Value), 10, 64)
			have++
		}
		if err != nil {
			return 0, 0, false
		}
	}
	return spool, number, have == 2
}
