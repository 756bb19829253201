// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// Stats counts what became of the lines. While no call is under way
//
//	Logged + Recovered = Delivered + Pending + Unfinished + Lost()
//
// Recovered, Delivered, Pending, Unfinished, Dropped, Attempts and Failures are those of the
// first destination, which Destinations repeats beside the others; the rest is of
// the spool. Logged belongs to the equation of each.
type Stats struct {
	Logged     uint64          // WriteRecord was called for, and Notices
	Recovered  uint64          // found by Open, not settled; at most so many as long as a part of the last segment cannot be read
	Delivered  uint64          // accepted by the destination
	Pending    uint64          // in the spool
	Unfinished uint64          // of Recovered: numbers that were claimed by a call that did not return
	Dropped    []delivery.Drop // by reason and level, without those that are 0

	Inherited []delivery.Drop // dropped by former processes that died before a notice told of it; in no equation

	Notices  uint64 // lines of the spool's own, each of which told of lines dropped before
	Attempts uint64 // calls of Deliver
	Failures uint64 // those of them that settled less than they were given
	Segments int    // that exist
	Bad      int    // files that were quarantined
	Unsynced uint64 // calls that did not wait any longer for their line to be synced
	Retired  int    // segments whose files failed while in use; what was not delivered of them counts as Damaged
	Errors   uint64 // of file operations

	Destinations []DestinationStats // in the order of Open and [Config.Also]
}

// DestinationStats counts what became of the lines on their way to one destination.
type DestinationStats struct {
	Name       string
	Recovered  uint64
	Delivered  uint64
	Pending    uint64
	Unfinished uint64
	Dropped    []delivery.Drop // also what was dropped before it came to destinations
	Attempts   uint64
	Failures   uint64
	Busy       time.Duration // how long the call of Deliver that is under way takes so far; 0 if none is
	Unkept     uint64        // of those that it rejected: not in the file NAME.rejected, which is full, or cannot be written
}

// Lost returns the number of lines dropped, for all reasons.
func (s Stats) Lost() uint64 { return linesOf(s.Dropped) }

// Lost returns the number of lines dropped, for all reasons.
func (s DestinationStats) Lost() uint64 { return linesOf(s.Dropped) }

func linesOf(drops []delivery.Drop) (n uint64) {
	for _, d := range drops {
		n += d.Lines
	}
	return n
}

// A cause is a delivery.Reason as an index.
type cause int

const (
	full cause = iota
	failed
	oldest
	tooLarge
	closed
	rejected
	damaged
	causes
)

var reasons = [causes]delivery.Reason{delivery.ReasonFull, delivery.ReasonFailed, delivery.ReasonOldest, delivery.ReasonTooLarge, delivery.ReasonClosed, delivery.ReasonRejected, delivery.ReasonDamaged}

const levels = 7

// A tally counts lines by cause and level.
type tally [causes][levels]uint64

// levelUnknown is what lines are counted as of which no level is known any more.
const levelUnknown = nib.LevelInfo

func (t *tally) add(c cause, l nib.Level, n uint64) {
	t[c][levelIndex(l)] += n
}

func levelIndex(l nib.Level) int {
	return int(min(max(l, nib.LevelTrace), nib.LevelFatal)-nib.LevelTrace) / 4
}

// plus returns the sum.
func (t *tally) plus(u *tally) tally {
	sum := *t
	for c := range sum {
		for l := range sum[c] {
			sum[c][l] += u[c][l]
		}
	}
	return sum
}

// minus returns t without u. A count of u may be higher: of a line that was told of as damaged,
// and then got another number.
func (t *tally) minus(u *tally) tally {
	left := *t
	for c := range left {
		for l := range left[c] {
			left[c][l] -= min(left[c][l], u[c][l])
		}
	}
	return left
}

func (t *tally) list() (drops []delivery.Drop) {
	for c := range t {
		for l, n := range t[c] {
			if n > 0 {
				drops = append(drops, delivery.Drop{Reason: reasons[c], Level: nib.LevelTrace + nib.Level(4*l), Lines: n})
			}
		}
	}
	return drops
}

// Stats returns the counts so far. It may be called at any time. It allocates.
func (s *Sink) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, next, _ := s.active.Load().claimed()
	st := s.stats
	st.Logged += next - s.opened
	st.Segments = s.segments
	st.Inherited = s.inherited.list()
	for _, d := range s.deliveries {
		dropped := d.dropped.plus(&s.dropped)
		busy := time.Duration(0)
		if !d.since.IsZero() {
			busy = time.Since(d.since)
		}
		st.Destinations = append(st.Destinations, DestinationStats{
			Name: d.name, Recovered: d.recovered, Delivered: d.delivered, Pending: next - d.settled - d.skips,
			Unfinished: d.unfinished, Dropped: dropped.list(), Attempts: d.attempts, Failures: d.failures, Busy: busy, Unkept: d.unkept,
		})
	}
	if s.adopter != nil {
		s.adopter.stats(&st)
	}
	first := st.Destinations[0]
	st.Recovered, st.Delivered, st.Pending, st.Unfinished = first.Recovered, first.Delivered, first.Pending, first.Unfinished
	st.Dropped, st.Attempts, st.Failures = first.Dropped, first.Attempts, first.Failures
	return st
}

// pending returns an error with what each destination has not accepted of the
// numbers before end. s.mu is held.
func (s *Sink) pending(end uint64) error {
	if s.dir == nil {
		return fmt.Errorf("%w: the others were in memory and are dropped", ErrPending)
	}
	var parts []string
	for _, d := range s.deliveries {
		if n := end - d.settled - d.skips; n > 0 {
			parts = append(parts, fmt.Sprintf("%d for %s", n, d.name))
		}
	}
	return fmt.Errorf("%w: left in %s: %s", ErrPending, s.dir.path, strings.Join(parts, ", "))
}
