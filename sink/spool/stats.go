// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// Stats counts the lines of a spool. While no call is in progress,
//
//	Logged + Recovered = Delivered + Pending + Unfinished + Lost()
//
// Logged, Recovered, Delivered, Pending, Unfinished, Dropped, Attempts and
// Failures are of the first destination, which Destinations lists as well; the
// other fields are for the whole spool.
type Stats struct {
	Logged uint64 // calls of WriteRecord, and Notices for the destination
	// Unsettled lines found by Open; an upper bound while part of the last
	// segment cannot be read.
	Recovered  uint64
	Delivered  uint64          // accepted by the destination
	Pending    uint64          // records in the spool
	Unfinished uint64          // of Recovered: numbers claimed by calls that did not return
	Dropped    []delivery.Drop // counts by reason and level, zero counts omitted

	// Inherited are lines that earlier processes have dropped, for the first
	// destination, without a notice. They are in no equation.
	Inherited []delivery.Drop

	Notices  uint64 // lines of the spool itself: each reports dropped lines
	Attempts uint64 // calls of Deliver
	Failures uint64 // of Attempts: those that did not settle the whole batch
	Segments int    // existing segments
	Bad      int    // quarantined files
	Unsynced uint64 // calls whose SyncWait ended before their line was synced
	Errors   uint64 // failed file operations

	// Retired are segments that were taken out of use early: their files
	// failed, and the undelivered lines count as Damaged, or a line could not
	// be read.
	Retired int

	Destinations []DestinationStats // in the order of Open and [Config.Also]
}

// DestinationStats counts the lines for one destination. The equation of
// [Stats] holds for each.
type DestinationStats struct {
	Name       string
	Logged     uint64 // calls of WriteRecord, and notices for this destination
	Recovered  uint64
	Delivered  uint64
	Pending    uint64
	Unfinished uint64
	Dropped    []delivery.Drop // including lines dropped before they reached a destination
	Attempts   uint64
	Failures   uint64
	Busy       time.Duration // duration so far of the current call of Deliver; 0 if there is none
	// Rejected lines that are not in the file NAME.rejected because it is full
	// or cannot be written.
	Unsaved uint64

	more forMetrics
}

// forMetrics has what only the metrics of a destination report.
type forMetrics struct {
	traffic level.Traffic // counts of the delivered records
	bytes   int64         // of the lines that are not delivered, an upper bound
	age     time.Duration // of the oldest line that is not delivered
}

// Lost returns the number of lines dropped, for all reasons.
func (s Stats) Lost() uint64 { return loss.Sum(s.Dropped) }

// Lost returns the number of lines dropped, for all reasons.
func (s DestinationStats) Lost() uint64 { return loss.Sum(s.Dropped) }

// Stats returns the current counts. It may be called at any time. It allocates.
func (s *Sink) Stats() Stats {
	st := s.ownStats()
	s.chain.peers.addStats(&st)
	st.Errors = s.chain.reports.failed.Load()
	first := st.Destinations[0]
	st.Logged, st.Recovered, st.Delivered = first.Logged, first.Recovered, first.Delivered
	st.Pending, st.Unfinished = first.Pending, first.Unfinished
	st.Dropped, st.Attempts, st.Failures = first.Dropped, first.Attempts, first.Failures
	return st
}

// ownStats returns the counts of this spool, by destination.
func (s *Sink) ownStats() Stats {
	s.chain.Lock()
	defer s.chain.Unlock()
	_, next, _ := s.chain.active.Load().Claimed()
	st := s.chain.stats
	st.Bad += s.chain.Quarantined
	st.Logged += next - s.chain.opened
	st.Segments = s.chain.segments
	inherited := s.chain.inherited.Plus(&s.chain.Deliveries[0].Inherited)
	st.Inherited = inherited.List()
	for _, d := range s.chain.Deliveries {
		dropped := d.Dropped.Plus(&s.chain.dropped)
		busy := time.Duration(0)
		if !d.Since.IsZero() {
			busy = time.Since(d.Since)
		}
		more := forMetrics{traffic: d.Traffic}
		more.bytes, more.age = d.Pending(time.Now())
		st.Destinations = append(st.Destinations, DestinationStats{
			Name: d.Options.Name, Logged: st.Logged + d.Notices,
			Recovered: d.Recovered, Delivered: d.Delivered, Pending: next - d.Settled - d.Skipped,
			Unfinished: d.Unfinished, Dropped: dropped.List(),
			Attempts: d.Attempts, Failures: d.Failures,
			Busy: busy, Unsaved: d.Unsaved, more: more,
		})
	}
	return st
}

// pending returns an error with the number of lines that each destination has
// not accepted, nil if there are none. The spool is closed.
func (s *Sink) pending() error {
	s.chain.Lock()
	defer s.chain.Unlock()
	_, end, _ := s.chain.active.Load().Claimed()
	var parts []string
	for _, d := range s.chain.Deliveries {
		if n := end - d.Settled - d.Skipped + d.LinesLeft; n > 0 {
			parts = append(parts, fmt.Sprintf("%d for %s", n, d.Options.Label))
		}
	}
	if s.chain.noDestination || len(parts) == 0 {
		return nil
	}
	counts := strings.Join(parts, ", ")
	if s.chain.dir == nil {
		return fmt.Errorf("%w: dropped, since they were in memory: %s", ErrPending, counts)
	}
	return fmt.Errorf("%w: left in %s: %s", ErrPending, s.chain.dir.Path, counts)
}

// add adds the counts of another spool that was delivered to the same
// destinations.
func (st *Stats) add(o Stats) {
	st.Segments += o.Segments
	st.Bad += o.Bad
	st.Retired += o.Retired
	st.Errors += o.Errors
	st.Notices += o.Notices
	st.Inherited = addDrops(st.Inherited, o.Inherited)
	for i, d := range o.Destinations {
		if i == len(st.Destinations) {
			st.Destinations = append(st.Destinations, DestinationStats{Name: d.Name})
		}
		t := &st.Destinations[i]
		t.Logged += d.Logged
		t.Recovered += d.Recovered
		t.Delivered += d.Delivered
		t.Pending += d.Pending
		t.Unfinished += d.Unfinished
		t.Dropped = addDrops(t.Dropped, d.Dropped)
		t.Attempts += d.Attempts
		t.Failures += d.Failures
		t.Busy = max(t.Busy, d.Busy)
		t.Unsaved += d.Unsaved
		t.more.traffic.Plus(&d.more.traffic)
		t.more.bytes += d.more.bytes
		t.more.age = max(t.more.age, d.more.age)
	}
}

// addDrops adds counts by reason and level.
func addDrops(a, b []delivery.Drop) []delivery.Drop {
	t := tallyOf(slices.Concat(a, b))
	return t.List()
}

// tallyOf returns drops as a table.
func tallyOf(drops []delivery.Drop) (t segment.Tally) {
	for _, d := range drops {
		t.Add(segment.Cause(slices.Index(segment.Reasons[:], d.Reason)), d.Level, d.Lines)
	}
	return t
}
