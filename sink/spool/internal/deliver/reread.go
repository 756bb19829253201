// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"errors"
	"io/fs"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	GiveUpTime  = 30 * time.Second
	giveUpTries = 10
)

// A rereading is the state of a delivery that cannot read a segment.
type rereading struct {
	since time.Time
	tries int
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
			d.again, d.Pause = rereading{}, 0
			return nil, true, true
		}
	}
	if err == nil {
		d.again, d.Pause = rereading{}, 0
		return b, int64(len(b)) < g.Size&^7, true
	}
	if d.again.tries == 0 {
		d.again.since = time.Now()
	}
	d.again.tries++
	if store.IsPartial(err) && d.again.tries >= giveUpTries && time.Since(d.again.since) >= GiveUpTime {
		d.spool.Fault("give up pages of a segment that could not be read for "+GiveUpTime.String(), err)
		d.again, d.Pause = rereading{}, 0
		d.quarantine()
		return b, true, true
	}
	d.spool.Fault("read a segment", err)
	d.wait()
	return nil, false, false
}

// quarantine marks the file to be quarantined instead of deleted when it is
// settled.
func (d *Delivery) quarantine() {
	d.chain.Lock()
	defer d.chain.Unlock()
	if !d.reading.Quarantine {
		d.reading.Quarantine = true
		d.chain.Quarantined++
	}
}
