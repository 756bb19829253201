// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
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

// Decoding a mark returns the encoded one, and a mark of another topic or spool
// is not accepted.
func TestMarkCodec(t *testing.T) {
	want := mark{roundRobin, true, place{3, 4, 5}, senders{producer{6, 7}, 8, true}}
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
	if p, ok := partitioningOf(b); p != roundRobin || !ok {
		t.Errorf("partitioningOf: got %v, %v", p, ok)
	}
}

// A mark has the current producer and the one before it. With more of them, and
// with the id 0, which brokers give out first, no record is missed.
func TestSenders(t *testing.T) {
	s := senders{current: noProducer, previous: -1}
	for i, want := range []senders{
		{producer{0, 3}, -1, false},
		{producer{5, 0}, 0, false},
		{producer{6, 0}, 0, true},
	} {
		s.add(want.current)
		if s != want {
			t.Errorf("producer %d: got %+v, want %+v", i, s, want)
		}
	}
	for _, c := range []struct {
		s    senders
		id   int64
		want bool
	}{
		{senders{producer{0, 1}, -1, false}, 0, true},
		{senders{producer{5, 1}, 6, false}, 5, true},
		{senders{producer{5, 1}, 6, false}, 6, true},
		{senders{producer{5, 1}, 6, false}, 7, false},
		{senders{producer{5, 1}, -1, false}, -1, false}, // of a client without a producer id
		{senders{noProducer, -1, false}, -1, false},
		{anySender, 7, true},
		{anySender, -1, true},
	} {
		if got := c.s.has(c.id); got != c.want {
			t.Errorf("%+v has %d: got %v", c.s, c.id, got)
		}
	}
}

// Mark moves the place after the records that were reported, and only then.
func TestPlaceFollowsReportedRecords(t *testing.T) {
	before, old := place{0, 2, 3}, senders{producer{4, 0}, 3, true}
	for name, c := range map[string]struct {
		change func(d *Destination, l *lane)
		want   place
		reset  bool // of the senders
	}{
		"reported":              {func(*Destination, *lane) {}, place{0, 9, 10}, true},
		"not all reported":      {func(_ *Destination, l *lane) { l.through = 11 }, before, false},
		"none reported":         {func(d *Destination, _ *lane) { d.reached = identity{} }, before, false},
		"of another spool":      {func(_ *Destination, l *lane) { l.spool = 8 }, before, false},
		"nothing found or sent": {func(d *Destination, l *lane) { *l, d.reached = lane{offset: -1}, identity{} }, before, false},
		"in flight":             {func(_ *Destination, l *lane) { l.queue = []*inFlight{{first: 8}, {first: 9}} }, place{0, 9, 8}, true},
		"adopted":               {func(_ *Destination, l *lane) { l.adopt(producer{5, 0}, 10) }, place{0, 9, 10}, false},
		"nothing sent":          {func(_ *Destination, l *lane) { l.taken = time.Time{} }, place{0, 9, 10}, false},
		"another mode":          {func(d *Destination, _ *lane) { d.c.RoundRobin = true }, before, false},
		"not looked up":         {func(d *Destination, _ *lane) { d.lanes = nil }, before, false},
		"spread":                {func(d *Destination, _ *lane) { d.mark.spread, d.searches.highest = true, 11 }, before, false},
		"spread, all reported":  {func(d *Destination, _ *lane) { d.mark.spread, d.searches.highest = true, 10 }, place{0, 9, 10}, true},
		"spread before":         {func(d *Destination, _ *lane) { d.searches.highest = 11 }, place{0, 9, 10}, true},
		"spread, nothing sent": {func(d *Destination, l *lane) {
			d.mark.spread, d.searches.highest = true, 10
			*l = lane{offset: -1}
		}, place{0, -1, 0}, false},
	} {
		d := &Destination{
			spool: 7, reached: identity{7, 10}, mark: mark{place: before, senders: old},
		}
		l := &lane{
			d: d, producer: producer{5, 0}, known: true, next: 10, taken: time.Unix(1, 0),
			offset: 9, delivered: delivered{spool: 7, through: 10},
		}
		d.lanes = []*lane{l}
		c.change(d, l)
		d.advance()
		want := old
		if c.reset {
			want = senders{current: producer{5, 0}, previous: -1}
		}
		if d.mark.place != c.want || d.mark.senders != want {
			t.Errorf("%s: got %+v, %+v; want %+v, %+v", name, d.mark.place, d.mark.senders, c.want, want)
		}
		if spread := name == "spread"; d.mark.spread != spread {
			t.Errorf("%s: got spread %v", name, d.mark.spread)
		}
	}
}

// Only lanes that are about to send get a producer, and the place is in the
// partition of the first one.
func TestProducerOfALane(t *testing.T) {
	newDestination := func() *Destination {
		five := producer{5, 1}
		d := &Destination{
			shared: five,
			mark:   mark{place: nowhere, senders: senders{current: five, previous: -1}},
		}
		d.lanes = []*lane{newLane(d, "logs", 0), newLane(d, "logs", 1)}
		d.lanes[1].todo = []int{0}
		return d
	}
	d := newDestination()
	d.lanes[1].next, d.lanes[1].taken = 8, time.Unix(1, 0)
	must.Succeed(t, d.introduce(t.Context()))
	if l := d.lanes[1]; d.lanes[0].known || !l.known || l.producer != d.shared || l.next != 0 || !l.taken.IsZero() {
		t.Errorf("got %+v and %+v, want that the second one begins as producer 5", d.lanes[0], l)
	}
	if d.mark.place != (place{1, -1, 0}) {
		t.Errorf("place: got %+v, want partition 1", d.mark.place)
	}
	d = newDestination()
	d.mark.place = place{0, 6, 7}
	if err := d.introduce(t.Context()); err != nil || d.mark.place != (place{0, 6, 7}) {
		t.Errorf("got %+v, %v; want the place in partition 0 as before", d.mark.place, err)
	}
}

// A new producer must be in the mark before it sends, from its first sequence
// on. A new epoch of the same one need not.
func TestNewProducerIsUnstored(t *testing.T) {
	four := senders{current: producer{4, 0}, previous: -1}
	d := &Destination{
		mark: mark{place: place{0, 6, 7}, senders: four}, storing: storing{enabled: true},
	}
	d.sendAs(producer{4, 1})
	if d.mark.senders != (senders{producer{4, 1}, -1, false}) || d.mark.place.sequence != 7 || d.storing.check() != nil || d.storing.due {
		t.Errorf("another epoch: got %+v, %+v, unsynced %v", d.mark.senders, d.mark.place, d.storing.due)
	}
	d.sendAs(producer{5, 0})
	if d.mark.senders != (senders{producer{5, 0}, 4, false}) || d.mark.place != (place{0, 6, 0}) {
		t.Errorf("another producer: got %+v, %+v", d.mark.senders, d.mark.place)
	}
	if err := d.storing.check(); err != errUnstored || !d.SyncMark() || d.storing.check() != nil || d.SyncMark() {
		t.Errorf("got %v, want once that the mark must be stored", err)
	}
	d.storing.enabled = false
	d.sendAs(producer{6, 0})
	if err := d.storing.check(); err != nil || d.SyncMark() {
		t.Errorf("without marks: got %v", err)
	}
}
