// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"errors"
	"io/fs"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A live segment is rescued when its records can no longer be read one by one,
// because a page cannot be read or does not contain the written bytes. The
// segment is sealed, so that lines continue in another one, and is read from a
// copy in memory, which is searched for records like the segment of a dead
// process. Missing records are taken from the copier's file. Delivery reads
// again, with growing pauses, while numbers are missing that may still appear:
// in pages that may become readable, as for old segments (readOld), and
// from calls in progress. After that they count as damaged.

// rescueTries is the number of times that a segment is read after it can get no
// more records, except from calls in progress.
const rescueTries = 4

var errChanged = errors.New("written records are gone")

// rescue begins to rescue g. Writers may still be using it, so it is never
// unmapped.
func (d *Delivery) rescue(g *segment.Segment, why error) {
	g.Seal()
	d.chain.Lock()
	g.Abandon()
	d.chain.Unlock()
	d.spool.Fault("read a segment that is in use", why)
	d.rescued, d.again, d.Pause = true, rereading{}, 0
}

// fillRescued reads from a segment that is rescued.
func (d *Delivery) fillRescued(g *segment.Segment) (ended, busy bool) {
	_, end, _ := g.Claimed()
	if d.Dest == nil {
		return true, false
	}
	if d.scan == nil {
		b, ok := d.readRescued(g)
		if !ok {
			return false, true
		}
		d.scan = segment.NewScanner(b, g.Identity, g.First)
	}
	return d.fillScanned(end, func(seq, _ uint64, _ segment.Gap) { d.giveUp(seq) }), false
}

// giveUp settles the numbers from the first unsettled one to seq. They count as
// damaged, except for void claims and notices for other destinations.
func (d *account) giveUp(seq uint64) {
	d.chain.Lock()
	absent := d.absentIn(d.Settled, seq)
	d.lose(segment.CauseDamaged, segment.LevelUnknown, seq-d.Settled-absent)
	d.Settled = seq
	d.Skipped -= absent
	d.moved()
}

// readRescued returns the readable part of g. If records are missing that may
// still appear, it waits and returns ok false, and the caller reads again.
func (d *Delivery) readRescued(g *segment.Segment) (b []byte, ok bool) {
	b, unread := g.Snapshot()
	complete := d.missing(g, b) == 0
	if !complete && d.reading.Copied {
		b = d.withCopy(g, b)
		complete = d.missing(g, b) == 0
	}
	hopeless := d.again.isHopeless()
	final := unread == 0 || d.dir.IsCutOff(g)
	switch {
	case complete, final && d.again.tries >= rescueTries:
	case hopeless:
		d.spool.Fault("give up pages of a segment that could not be read for "+GiveUpTime.String(),
			segment.ErrGone)
		d.quarantine()
	default:
		if d.again.tries > 1 && unread > 0 {
			d.spool.Fault("read a segment that is in use", segment.ErrGone)
		}
		d.wait()
		return nil, false
	}
	d.again, d.Pause = rereading{}, 0
	return b, true
}

// withCopy returns b with the records that only the copier's file has.
func (d *account) withCopy(g *segment.Segment, b []byte) []byte {
	kept, err := d.dir.Bytes(store.CopyName(g.Number), g.Size)
	if err != nil && !store.IsPartial(err) {
		if !errors.Is(err, fs.ErrNotExist) {
			d.spool.Fault("read the copy of a segment", err)
		}
		return b
	}
	return g.Old().Complete(b, kept)
}

// missing returns the number of unsettled records that b lacks, of those that
// exist or may still appear.
func (d *account) missing(g *segment.Segment, b []byte) uint64 {
	_, end, _ := g.Claimed()
	settled, found := d.position(), uint64(0)
	for sc := segment.NewScanner(b, g.Identity, g.First); ; {
		if _, _, ok := sc.Next(); !ok {
			break
		}
		if sc.Want > settled {
			found++
		}
	}
	d.chain.Lock()
	defer d.chain.Unlock()
	return end - min(settled, end) - g.VoidsIn(settled, end) - found
}

const (
	GiveUpTime  = 30 * time.Second
	giveUpTries = 10
)

// A rereading is the state of a delivery that cannot read a segment.
type rereading struct {
	since time.Time
	tries int
}

// isHopeless counts an attempt, and reports whether there were enough of them.
func (r *rereading) isHopeless() bool {
	if r.tries == 0 {
		r.since = time.Now()
	}
	r.tries++
	return r.tries >= giveUpTries && time.Since(r.since) >= GiveUpTime
}

// readOld reads an old segment. If it cannot, it waits and returns ok false,
// and the caller reads again. given reports that pages have failed for so long
// that they count as damaged.
func (d *Delivery) readOld(g *segment.Old) (b []byte, given, ok bool) {
	b, err := d.dir.Read(g)
	d.spool.ReportNoted()
	if errors.Is(err, fs.ErrNotExist) {
		if e := d.dir.Held(); e != nil {
			err = e // the directory was replaced, or that cannot be determined
		} else {
			d.spool.Fault("read a segment", err)
			return nil, true, true
		}
	}
	if err == nil {
		return b, int64(len(b)) < g.Size&^7, true
	}
	if d.again.isHopeless() && store.IsPartial(err) {
		d.spool.Fault("give up pages of a segment that could not be read for "+GiveUpTime.String(),
			err)
		d.quarantine()
		return b, true, true
	}
	d.spool.Fault("read a segment", err)
	d.wait()
	return nil, false, false
}

// quarantine marks the file to be quarantined instead of deleted when it is
// settled.
func (d *account) quarantine() {
	d.chain.Lock()
	defer d.chain.Unlock()
	if !d.reading.Quarantine {
		d.reading.Quarantine = true
		d.chain.Quarantined++
	}
}
