// SPDX-License-Identifier: Apache-2.0

package file

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/loss"
)

// A Reason says why a line was dropped.
type Reason string

// The reasons, and the errors that come with them.
const (
	Full   Reason = "full"   // no room on the file system or in the quota, or less than Config.MinFree: delivery.ErrFull
	Failed Reason = "failed" // the system refused to write or open: its error
	Closed Reason = "closed" // the sink was closed before: delivery.ErrClosed
)

// A Drop counts lines that were dropped.
type Drop struct {
	Reason Reason
	Level  nib.Level // a named level; others count as the next lower one, and below LevelTrace as that
	Lines  uint64
}

// Stats counts what became of the lines. For lines whose calls have returned,
// logged = Lines + Pending + the sum of Dropped, which is [Stats.Lost]. Lines that
// Deliver did not settle belong to the caller still, and are not counted.
type Stats struct {
	Lines   uint64 // written, or delivered
	Bytes   uint64 // of these lines
	Pending uint64 // in the buffer
	Notices uint64 // lines of the sink's own, each of which told of a loss
	Dropped []Drop // by reason and level, without those that are 0

	Rotations   uint64 // files that this sink has ended
	Followed    uint64 // times that someone else had renamed or removed the file
	Truncations uint64 // times that someone else had cut the file off
	Errors      uint64 // all that went wrong, also what was tried again with success
}

// Lost is how many lines were dropped in all.
func (s Stats) Lost() (n uint64) {
	for _, d := range s.Dropped {
		n += d.Lines
	}
	return n
}

// Stats returns the counts so far. It may be called at any time and waits for a
// write(2) that is under way. It allocates if lines were dropped.
func (s *Sink) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Lines, st.Bytes = s.written.Total()
	st.Pending = s.pending()
	loss.Each(s.dropped[:], func(cause, level int, n uint64) {
		st.Dropped = append(st.Dropped, Drop{Reason: reasons[cause], Level: nib.Level(level), Lines: n})
	})
	return st
}

// A cause is a Reason as an index.
type cause int

const (
	full cause = iota
	failed
	closed
	causes
)

var reasons = [causes]Reason{Full, Failed, Closed}

// A tally counts lines by cause and level.
type tally [causes]loss.Levels

// minus returns what has come since u.
func (t tally) minus(u tally) tally {
	loss.Subtract(t[:], u[:])
	return t
}
