// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

var (
	errGone    = errors.New("nib/journald: journald is not listening on the socket")
	errStalled = fmt.Errorf("nib/journald: %w", delivery.ErrStalled)
	errClosed  = fmt.Errorf("nib/journald: %w", delivery.ErrClosed)
)

// Stats counts the lines of a Sink. For lines whose calls have returned, logged
// = Lines + the sum of Dropped, which is [Stats.Lost].
type Stats struct {
	Lines      uint64          // sent to journald
	Bytes      uint64          // bytes of their entries
	Large      uint64          // of Lines: those sent in a file
	Reconnects uint64          // number of times that the socket was reconnected
	Dropped    []delivery.Drop // counts by reason and level, zero counts omitted
}

// Lost returns the number of lines dropped, for all reasons.
func (s Stats) Lost() uint64 { return loss.Sum(s.Dropped) }

// counters holds the counts for Stats.
type counters struct {
	large, reconnects atomic.Uint64

	written [level.Count]struct{ lines, bytes atomic.Uint64 }
	dropped [len(reasons)][level.Count]atomic.Uint64
}

// causes are the errors whose reason is not ReasonFailed, in the order of
// reasons.
var causes = []error{errStalled, errGone, errClosed}

var reasons = [...]delivery.Reason{
	delivery.ReasonStalled, delivery.ReasonGone, delivery.ReasonClosed, delivery.ReasonFailed,
}

// drop counts a line.
func (c *counters) drop(l nib.Level, err error) {
	cause := slices.Index(causes, err)
	if cause < 0 {
		cause = len(causes)
	}
	c.dropped[cause][level.Row(int(l))].Add(1)
}

// traffic returns the counts of written lines by level.
func (c *counters) traffic() (t level.Traffic) {
	for row := range c.written {
		t[row].Lines, t[row].Bytes = c.written[row].lines.Load(), c.written[row].bytes.Load()
	}
	return t
}

// lost returns the counts of dropped lines.
func (c *counters) lost() (t loss.Tally) {
	for cause := range c.dropped {
		for row := range c.dropped[cause] {
			t[cause][row] = c.dropped[cause][row].Load()
		}
	}
	return t
}

// Stats returns the current counts. It may be called at any time. It allocates
// if lines were dropped.
func (s *Sink) Stats() Stats {
	c := &s.counters
	st := Stats{Large: c.large.Load(), Reconnects: c.reconnects.Load()}
	written := c.traffic()
	st.Lines, st.Bytes = written.Total()
	lost := c.lost()
	st.Dropped = lost.Drops(reasons[:])
	return st
}
