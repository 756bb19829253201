// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A mark is stored with the cursor of the spool. It has the partitioning mode,
// the producers that have sent records since and, if all of these are in one
// partition and in order, the place where they begin.
type mark struct {
	mode    partitioning
	spread  bool // unsettled records may be in any partition
	place   place
	senders senders
}

// A place is the position after the last settled record of a partition.
type place struct {
	partition int32 // -1 if it is not known yet
	offset    int64 // offset of that record, or -1
	sequence  int32 // the sequence after that record
}

var nowhere = place{-1, -1, 0}

// senders are the producers that may have sent unsettled records of the spool.
// Records of other producers are never mistaken for these, regardless of their
// headers.
type senders struct {
	current  producer
	previous int64 // id of the previous producer, or -1
	any      bool  // there were more producers, or nothing is known
}

// anySender is the state without a mark.
var anySender = senders{current: noProducer, previous: -1, any: true}

// add makes p, which has another id, the current producer.
func (s *senders) add(p producer) {
	if s.previous < 0 {
		s.previous = s.current.id
	} else {
		s.any = true
	}
	s.current = p
}

// has reports whether a batch of the producer may have records of the spool.
func (s *senders) has(id int64) bool {
	return s.any || id >= 0 && (id == s.current.id || id == s.previous)
}

// An encoded mark is the version and the partitioning mode, a checksum of the
// topic and the spool, and the fields.
const (
	markVersion = 2
	markSize    = 1 + 1 + 4 + 4 + 8 + 4 + 8 + 2 + 8

	markSpread = 1 << 7 // combined with the partitioning mode
	markAny    = 1 << 6
)

// append appends the mark to b.
func (m *mark) append(b []byte, sum uint32) []byte {
	be := binary.BigEndian
	how := byte(m.mode)
	if m.spread {
		how |= markSpread
	}
	if m.senders.any {
		how |= markAny
	}
	b = be.AppendUint32(append(b, markVersion, how), sum)
	b = be.AppendUint32(b, uint32(m.place.partition))
	b = be.AppendUint64(b, uint64(m.place.offset))
	b = be.AppendUint32(b, uint32(m.place.sequence))
	b = be.AppendUint64(b, uint64(m.senders.current.id))
	b = be.AppendUint16(b, uint16(m.senders.current.epoch))
	return be.AppendUint64(b, uint64(m.senders.previous))
}

// readMark decodes a mark for the topic and the spool with checksum sum.
// Without a mark, records may be anywhere.
func readMark(b []byte, sum uint32) (m mark, ok bool) {
	be := binary.BigEndian
	if _, valid := partitioningOf(b); !valid || be.Uint32(b[2:]) != sum {
		return mark{spread: true, place: nowhere, senders: anySender}, false
	}
	m.mode, m.spread, m.senders.any = partitioning(
		b[1]&^(markSpread|markAny)), b[1]&markSpread != 0, b[1]&markAny != 0
	m.place = place{int32(be.Uint32(b[6:])), int64(be.Uint64(b[10:])), int32(be.Uint32(b[18:]))}
	m.senders.current = producer{int64(be.Uint64(b[22:])), int16(be.Uint16(b[30:]))}
	m.senders.previous = int64(be.Uint64(b[32:]))
	return m, true
}

// partitioningOf returns the partitioning of the process that made a mark (see
// [Destination.Mark]). ok is false if mark is not valid. A program that
// delivers the records that another process has left in its spool must choose
// the same partitions to keep their order.
func partitioningOf(mark []byte) (p partitioning, ok bool) {
	if len(mark) != markSize || mark[0] != markVersion {
		return 0, false
	}
	p = partitioning(mark[1] &^ (markSpread | markAny))
	return p, p <= roundRobin
}

// sum identifies the topic, which is a different one after it was recreated,
// and the spool: a copy of its directory is another producer.
func (d *Destination) sum(spool uint64) uint32 {
	b := append([]byte(d.cluster.topic), d.id[:]...)
	return crc32.Checksum(binary.BigEndian.AppendUint64(b, spool), castagnoli)
}

// Mark returns the state of delivery: the partitioning mode, the producer ids
// and, without Key and RoundRobin, the partition, the offset of the last
// acknowledged record and the sequence number after it. A later process passes
// it to Resume.
//
// After the first call of Mark, a Deliver that gets a new producer id returns
// before it sends anything, and SyncMark reports that the mark must be stored
// first.
func (d *Destination) Mark() []byte {
	d.work.Lock()
	defer d.work.Unlock()
	d.storing.enabled = true
	d.advance()
	return d.mark.append(make([]byte, 0, markSize), d.sum(d.spool))
}

// SyncMark reports whether the result of Mark must be on disk before Deliver is
// called again: a producer that is not in the stored mark must not send.
func (d *Destination) SyncMark() bool {
	d.work.Lock()
	defer d.work.Unlock()
	wanted := d.storing.due
	d.storing.due = false
	return wanted
}

// advance moves the place after the settled records, if all records known to be
// in the partition were reported to the caller. Otherwise a search must find
// the rest again from the previous place.
func (d *Destination) advance() {
	unreported := d.mark.spread && d.reached.seq < d.searches.highest
	if d.c.partitioning() != perSpool || len(d.lanes) == 0 || unreported {
		return
	}
	l := d.homeLane(d.spool)
	if d.mark.spread {
		d.mark.spread, d.mark.place = false, place{l.partition, -1, 0}
	}
	if l.spool == 0 || l.spool != d.reached.spool || l.through > d.reached.seq {
		return
	}
	d.mark.place = place{l.partition, l.offset, l.next}
	if len(l.queue) > 0 {
		d.mark.place.sequence = l.queue[0].first
	}
	if !l.taken.IsZero() { // records after the place are sent by this producer
		d.mark.senders = senders{current: l.producer, previous: -1}
	}
}

// introduce assigns a producer to lanes that are about to send and have none.
// They share one until a lane can no longer use it. It must be in the mark
// before it sends.
func (d *Destination) introduce(ctx context.Context) error {
	for _, l := range d.lanes {
		if l.known || len(l.todo) == 0 {
			continue
		}
		if d.shared == noProducer || l.producer == d.shared {
			p, err := d.cluster.newProducer(ctx, nil, noProducer)
			if err != nil {
				return err
			}
			d.shared = p
			d.sendAs(p)
		}
		l.begin(d.shared)
	}
	return d.storing.check()
}

// begin lets the lane send as p.
func (l *lane) begin(p producer) {
	l.producer, l.known, l.next, l.taken = p, true, 0, time.Time{}
	if l.d.mark.place.partition < 0 {
		l.d.mark.place.partition = l.partition
	}
}

// sendAs adds p to the senders.
func (d *Destination) sendAs(p producer) {
	if d.mark.senders.current.id == p.id {
		d.mark.senders.current.epoch = p.epoch
		return
	}
	d.mark.senders.add(p)
	d.mark.place.sequence = 0
	d.storing.needed = true
}

// A storing is how far the caller has stored the mark: a producer that is not
// in the stored mark must not send.
type storing struct {
	enabled bool // the caller stores marks
	needed  bool // the mark must be stored before anything is sent
	due     bool // SyncMark must report true
}

// check returns an error, once, if the mark must be stored first.
func (s *storing) check() error {
	wanted := s.needed && s.enabled
	s.needed = false
	if wanted {
		s.due = true
		return errUnstored
	}
	return nil
}
