// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"slices"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// Lines that only this destination has lost are announced by notices that only
// this destination gets. The cursor has their count until such a notice is
// settled: one write moves the position past the notice and subtracts what it
// reports. So a notice that is dropped or rejected, or whose process died
// before it was committed, is repeated, and no loss is reported twice. A notice
// reports what the cursor has: after a death, the destination may accept the
// records of a loss that the cursor does not have.

// losses are the losses of a destination. The lock of the chain protects them.
type losses struct {
	Lost      store.Losses  // what no settled notice reports
	unwritten segment.Tally // the part of Lost that is not yet in the cursor
	announced []notice      // the notices in the spool that this destination has not settled
	absent    []uint64      // numbers of this process's void claims and notices for others
	Notices   uint64        // of this process
	Inherited segment.Tally // lost under earlier processes, and not announced by them
}

// A notice is a record that reports losses to this destination.
type notice struct {
	seq   uint64
	lines segment.Tally
}

// lose counts lines as dropped on the way to this destination. The lock of the
// chain is held.
func (d *account) lose(c segment.Cause, l nib.Level, n uint64) {
	d.Dropped.Add(c, l, n)
	d.Lost.Lines.Add(c, l, n)
	if d.Cursor != nil {
		d.unwritten.Add(c, l, n)
	}
}

// unlose undoes lose for one damaged line.
func (d *account) unlose() {
	row := level.Row(int(segment.LevelUnknown))
	d.Dropped[segment.CauseDamaged][row]--
	if n := &d.Lost.Lines[segment.CauseDamaged][row]; *n > 0 {
		*n--
	}
}

// Unannounced returns the losses in the cursor that no notice in the spool
// reports. The lock of the chain is held.
func (d *account) Unannounced() segment.Tally {
	lost := d.Lost.Lines.Minus(&d.unwritten)
	d.announced = slices.DeleteFunc(d.announced, func(n notice) bool { return n.seq < d.Settled })
	for _, n := range d.announced {
		lost = lost.Minus(&n.lines)
	}
	return lost
}

// Announce records that the record with number seq, of this process, reports
// losses to the destination called name. The lock of the chain is held.
func (d *account) Announce(seq uint64, name string, lines segment.Tally) {
	if name == d.Options.Name {
		d.announced = append(d.announced, notice{seq, lines})
		d.Notices++
		return
	}
	d.absent = append(d.absent, seq)
	d.Skipped++
}

// reported subtracts what the notices among batch, which is settled, report,
// unless they were refused. The lock of the chain is held.
func (d *account) reported(batch []nib.Record, refused []refusal) {
	for len(d.announced) > 0 && d.announced[0].seq < d.Settled {
		n := d.announced[0]
		d.announced = d.announced[1:]
		isIt := func(r *nib.Record) bool { return r.Seq == n.seq }
		if slices.ContainsFunc(batch, func(r nib.Record) bool { return isIt(&r) }) &&
			!slices.ContainsFunc(refused, func(x refusal) bool { return isIt(x.r) }) {
			d.Lost.Lines = d.Lost.Lines.Minus(&n.lines)
		}
	}
}

// owe makes a notice report lines to this destination, once they are in the
// cursor. The lock of the chain is held.
func (d *account) owe(lines *segment.Tally) {
	d.Lost.Lines = d.Lost.Lines.Plus(lines)
	if d.Cursor != nil {
		d.unwritten = d.unwritten.Plus(lines)
	}
}

// repeat makes the next notice for this destination report what the record with
// number seq does, which it has rejected, if the record is a notice for all.
// The segment stays while its file is read, since this destination is at its
// link.
func (d *account) repeat(seq uint64) {
	var lines, inherited segment.Tally
	var old []segment.Old
	d.chain.Lock()
	for _, l := range d.chain.Links {
		switch {
		case l.First != seq:
		case l.Live == nil && d.dir != nil && l.Gen != d.dir.Gen:
			old = append(old, l.Old)
		default:
			lines = lines.Plus(&l.Reported)
		}
	}
	d.chain.Unlock()
	for i := range old {
		b, err := d.dir.Beginning(&old[i])
		if err != nil {
			d.spool.Fault("read a notice", err)
		} else if old[i].HasNotice(b) {
			counts := old[i].Counts(b, segment.SectionReported)
			inherited = inherited.Plus(&counts)
		}
	}
	lines = lines.Plus(&inherited)
	d.chain.Lock()
	defer d.chain.Unlock()
	d.Inherited = d.Inherited.Plus(&inherited)
	d.owe(&lines)
}

// absentIn returns how many of the numbers from first to end have no record for
// this destination, since they belong to void claims, or to notices of this
// process for others. They are in Skipped. The lock of the chain is held.
func (d *account) absentIn(first, end uint64) (n uint64) {
	for _, seq := range d.absent {
		if seq >= first && seq < end {
			n++
		}
	}
	return n
}

// passForeign moves the position past the notice with number seq, which is for
// another destination.
func (d *account) passForeign(seq uint64) {
	if seq < d.opened {
		d.neverGiven(1) // it counts as recovered
	} else {
		d.skip(1)
	}
}

// passAbsent moves the position past the absent numbers among the next ones,
// from first to end, where no record was found. It returns how many there are.
func (d *account) passAbsent(first, end uint64) (n uint64) {
	d.chain.Lock()
	n = d.absentIn(first, end)
	d.chain.Unlock()
	if n > 0 {
		d.skip(n)
	}
	return n
}

// Recall reads what the destination had lost under earlier processes, whose
// segments are old, and which notices there report it.
func (d *account) Recall(old []segment.Old) error {
	l := d.Cursor.Losses()
	if x := &l.Drop; x.Segment != 0 {
		l.End(d.Settled < x.End && !slices.ContainsFunc(old, func(g segment.Old) bool {
			return g.Number == x.Segment && max(d.Settled, g.First) < g.End
		}))
	}
	d.Lost = *l
	for i := range old {
		if g := &old[i]; d.Lost.Lines != (segment.Tally{}) && d.Settled < g.End {
			b, err := d.dir.Beginning(g)
			if err != nil {
				return err
			}
			g.Notices(b, d.Options.Name, func(seq uint64, t segment.Tally) {
				d.announced = append(d.announced, notice{seq, t})
			})
		}
	}
	d.Inherited = d.Unannounced()
	return nil
}
