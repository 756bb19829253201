// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A partition is the input of FuzzSearchInTransactions, with the expected
// result.
type partition struct {
	batches []searched
	aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction
	ends    []int64 // of the aborted transactions: offsets of their markers
	end     int64
}

type searched struct {
	frame      []byte
	base, last int64
	producer   producer
	sequence   int32
	counts     bool // it is not a marker, and not of an aborted transaction
	records    []nib.Record
}

// testSearcher returns a searcher for records of spool 7 by some producers.
func testSearcher(of senders, by kgo.Decompressor) *searcher {
	d := &Destination{mark: mark{senders: of}, cluster: cluster{decompress: by}}
	return &searcher{l: &lane{d: d}, spool: 7, dropping: map[int64]bool{}}
}

// makePartition turns every three bytes into a batch of one of three producers:
// plain, transactional, or the end of a transaction.
func makePartition(data []byte) *partition {
	p := &partition{}
	open := map[int64]int{}    // transactions, by producer: the number of their first batch
	aborts := map[int64]bool{} // whether they will be aborted
	for sequence := int32(0); len(data) >= 3; data = data[3:] {
		a, b, c := data[0], data[1], data[2]
		p.end += int64(a >> 7) // compaction leaves holes
		q := producer{int64(5 + a>>2&3), 1}
		first, transaction := open[q.id]
		s := searched{base: p.end, producer: q, sequence: sequence, counts: true}
		e := encoder{transactional: a&2 != 0 || transaction}
		e.reset()
		marker := a&3 == 3 && transaction
		switch {
		case marker:
			e.add(&nib.Record{Line: []byte("end")}, nil, "")
			s.counts = false
			if aborts[q.id] {
				entry := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
				entry.ProducerID, entry.FirstOffset = q.id, p.batches[first].base
				p.aborted, p.ends = append(p.aborted, entry), append(p.ends, p.end)
				for i := range p.batches[first:] {
					if o := &p.batches[first+i]; o.producer == q {
						o.counts = false
					}
				}
			}
			delete(open, q.id)
		default:
			if e.transactional && !transaction {
				open[q.id], aborts[q.id] = len(p.batches), a>>6&1 != 0
			}
			for k := range 1 + int(b&3) {
				r := nib.Record{Line: []byte("x"), Spool: []uint64{0, 7, 8, 7}[b>>(2+2*min(k, 2))&3], Seq: uint64(c) + uint64(k)}
				e.add(&r, nil, "")
				s.records = append(s.records, r)
			}
			sequence = advance(sequence, len(s.records))
		}
		s.last = s.base + int64(e.count) - 1
		s.frame = e.frame(q, s.sequence)
		binary.BigEndian.PutUint64(s.frame, uint64(s.base))
		if marker {
			s.frame[frameAttributes+1] |= attributeControl
			binary.BigEndian.PutUint32(s.frame[frameCRC:], crc32.Checksum(s.frame[frameAttributes:], castagnoli))
		}
		p.batches = append(p.batches, s)
		p.end = s.last + 1
	}
	for i := range p.batches { // consumers do not see transactions that have not ended
		if first, ok := open[p.batches[i].producer.id]; ok && i >= first {
			p.batches, p.end = p.batches[:i], 0
			break
		}
	}
	if n := len(p.batches); n > 0 {
		p.end = p.batches[n-1].last + 1
	}
	return p
}

// find checks each record.
func (p *partition) find(known senders, from uint64, at int64) finding {
	f := finding{spool: 7, from: from, offset: -1}
	for _, b := range p.batches {
		for k, r := range b.records {
			if !b.counts || b.last < at || !known.has(b.producer.id) || r.Spool != 7 {
				continue
			}
			f.producer, f.next, f.offset = b.producer, advance(b.sequence, len(b.records)), b.base+int64(k)
			if r.Seq >= from {
				f.through, f.numbers = max(f.through, r.Seq), append(f.numbers, r.Seq)
			}
		}
	}
	return f
}

// fetch responds like a broker: with batches from the one with the offset on,
// the last of them cut off, and the aborted transactions that end after the
// offset.
func (p *partition) fetch(at int64, bytesWanted int) (b []byte, aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction) {
	for _, s := range p.batches {
		if s.last >= at && len(b) < bytesWanted {
			b = append(b, s.frame...)
		}
	}
	for i, entry := range p.aborted {
		if p.ends[i] >= at {
			aborted = append(aborted, entry)
		}
	}
	return b, aborted
}

// FuzzSearchInTransactions compares a search with a search that checks each
// record.
func FuzzSearchInTransactions(f *testing.F) {
	f.Add([]byte("\x00\x07\x01\x04\x54\x03\x08\x57\x09\x0c\x57\x20"), uint64(2), uint16(0), uint16(1))
	f.Add([]byte{0x42, 0x57, 1, 0x02, 0x57, 5, 0x03, 0, 0, 0x02, 0x57, 9, 0x03, 0, 0}, uint64(0), uint16(4), uint16(400))
	f.Add([]byte{0x42, 0x57, 1, 0x03, 0, 0, 0x00, 0x57, 9, 0x42, 0x57, 20, 0x46, 4, 3, 0x07, 0, 0, 0x03, 0, 0}, uint64(0), uint16(0), uint16(90))
	f.Fuzz(func(t *testing.T, data []byte, from uint64, start, portion uint16) {
		p := makePartition(data[:min(len(data), 300)])
		at := int64(start) % (p.end + 1)
		two := senders{current: producer{5, 1}, previous: 6}
		want := p.find(two, from, at)
		s := testSearcher(two, kgo.DefaultDecompressor())
		s.at = at
		s.found.spool, s.found.from, s.found.offset = 7, from, -1
		for s.at < p.end {
			before := s.at
			var b []byte
			b, s.aborted = p.fetch(s.at, 1+int(portion)%1000)
			must.Succeed(t, s.batches(append(b,
				bytes.Repeat([]byte{0}, int(portion%frameHead))...)))
			if s.at <= before {
				t.Fatalf("offset %d is not passed", before)
			}
		}
		if !reflect.DeepEqual(s.found, want) {
			t.Errorf("from offset %d\ngot  %+v\nwant %+v", at, s.found, want)
		}
	})
}
