// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

// A Cause is a delivery.Reason as an index.
type Cause int

const (
	CauseFull Cause = iota
	CauseFailed
	CauseOldest
	CauseTooLarge
	CauseClosed
	CauseRejected
	CauseDamaged
	Causes
)

var Reasons = [Causes]delivery.Reason{delivery.ReasonFull, delivery.ReasonFailed, delivery.ReasonOldest, delivery.ReasonTooLarge, delivery.ReasonClosed, delivery.ReasonRejected, delivery.ReasonDamaged}

// A Tally counts lines by cause and level.
type Tally [Causes]loss.Levels

// LevelUnknown is the level under which lines of unknown level are counted.
const LevelUnknown = nib.LevelInfo

// Add counts n lines.
func (t *Tally) Add(c Cause, l nib.Level, n uint64) {
	t[c][level.Row(int(l))] += n
}

// Plus returns the sum.
func (t *Tally) Plus(u *Tally) Tally {
	sum := *t
	for c := range sum {
		for l := range sum[c] {
			sum[c][l] += u[c][l]
		}
	}
	return sum
}

// Minus returns t minus u. A count may be higher in u than in t, if a line was
// reported as damaged and then got another number.
func (t *Tally) Minus(u *Tally) Tally {
	left := *t
	for c := range left {
		for l := range left[c] {
			left[c][l] -= min(left[c][l], u[c][l])
		}
	}
	return left
}

func (t *Tally) List() (drops []delivery.Drop) {
	for c := range t {
		for l, n := range t[c] {
			if n > 0 {
				drops = append(drops, delivery.Drop{Reason: Reasons[c], Level: nib.Level(level.At(l)), Lines: n})
			}
		}
	}
	return drops
}
