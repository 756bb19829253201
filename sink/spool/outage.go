// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

const (
	// outageDelay is how long a destination may accept nothing until that is
	// reported, also when no attempt has failed because the first one has not
	// come back.
	outageDelay = 4 * time.Second

	// outagePause is the time between two reports about one destination.
	outagePause = time.Minute
)

// An outage is the time in which a destination accepts nothing. Sink.mu
// protects it.
type outage struct {
	since    time.Time   // of the first attempt; zero: there is no outage
	err      error       // of the last attempt; nil: none has come back
	oldest   int64       // Time of the first record that waits
	first    uint64      // without a destination: the oldest segment when that was read
	reported time.Time   // when the last report was made, of this outage or one before
	timer    *time.Timer // calls watch; nil before the first attempt
}

var errNoAnswer = errors.New("no answer")

// beginAttempt takes note of an attempt to deliver a record of some time and
// those behind it. mu is held.
func (d *deliverer) beginAttempt(oldest int64) {
	o := &d.outage
	o.oldest = oldest
	if !o.since.IsZero() {
		return
	}
	o.since, o.err = d.since, nil
	wait := max(outageDelay, time.Until(o.reported.Add(outagePause)))
	if o.timer == nil {
		o.timer = time.AfterFunc(wait, d.watch)
	} else {
		o.timer.Reset(wait)
	}
}

// endOutage takes note that the destination has accepted something, or that
// there will be no attempt any more.
func (d *deliverer) endOutage() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.outage.since, d.outage.err = time.Time{}, nil
	if d.outage.timer != nil {
		d.outage.timer.Stop()
	}
}

// attemptFailed reports err, unless there was a report within the last minute.
func (d *deliverer) attemptFailed(err error) {
	d.s.mu.Lock()
	d.outage.err = err
	d.reportOutage()
}

// watch reports an outage that has lasted for outageDelay, and then once a
// minute.
func (d *deliverer) watch() {
	d.s.mu.Lock()
	if d.outage.since.IsZero() || d.s.ctx.Err() != nil {
		d.s.mu.Unlock()
		return
	}
	d.outage.timer.Reset(outagePause)
	d.reportOutage()
}

// reportOutage reports an outage with how much waits, and unlocks mu.
func (d *deliverer) reportOutage() {
	o, now := &d.outage, time.Now()
	if now.Sub(o.reported) < outagePause {
		d.s.mu.Unlock()
		return
	}
	o.reported = now
	err, text := o.err, d.backlog(now)
	if err == nil {
		err = fmt.Errorf("%w for %v", errNoAnswer, now.Sub(o.since).Round(time.Second))
	}
	d.s.mu.Unlock()
	d.s.report("deliver to "+d.label(), fmt.Errorf("%w; %s", err, text))
}

// backlog describes how much waits for the destination. mu is held.
func (d *deliverer) backlog(now time.Time) string {
	_, next, _ := d.s.active.Load().Claimed()
	text := fmt.Sprintf("%d lines wait, of up to %d bytes", next-d.settled-d.skips, d.pendingBytes())
	if d.outage.oldest != 0 {
		text += fmt.Sprintf(", the oldest for %v", d.age(now).Round(time.Second))
	}
	return text
}

// age returns how long the first record that the last attempt had has been
// waiting; 0 if its time is not known. mu is held.
func (d *deliverer) age(now time.Time) time.Duration {
	if d.outage.oldest == 0 {
		return 0
	}
	return max(now.Sub(time.Unix(0, d.outage.oldest)), 0)
}

// pendingBytes returns an upper bound of the bytes that wait, for which nothing
// has to be read. mu is held.
func (d *deliverer) pendingBytes() (bytes int64) {
	waits := false
	for _, l := range d.s.chain {
		if waits = waits || l == d.cur; !waits {
			continue
		}
		size := l.Size
		if l.live != nil {
			end, _, _ := l.live.Claimed()
			size = int64(end)
		}
		bytes += size - segment.HeaderSize
	}
	return bytes
}
