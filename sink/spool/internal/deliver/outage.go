// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

const (
	// OutageDelay is the time for which a destination may accept nothing before
	// that is reported, even if no attempt has failed because the first one has
	// not returned.
	OutageDelay = 4 * time.Second

	// outagePause is the time between two reports about one destination.
	outagePause = time.Minute
)

// An outage is the time in which a destination accepts nothing. The lock
// of the chain protects it.
type outage struct {
	since    time.Time   // time of the first attempt; zero: there is no outage
	err      error       // error of the last attempt; nil if none has returned
	oldest   int64       // Time of the first pending record
	reported time.Time   // time of the last report, of this outage or an earlier one
	timer    *time.Timer // calls watch; nil before the first attempt
}

var ErrNoAnswer = errors.New("no answer")

// beginAttempt notes an attempt to deliver records. The first one has time
// oldest. The lock of the chain is held.
func (d *account) beginAttempt(oldest int64) {
	o := &d.outage
	o.oldest = oldest
	if !o.since.IsZero() {
		return
	}
	o.since, o.err = d.Since, nil
	wait := max(OutageDelay, time.Until(o.reported.Add(outagePause)))
	if o.timer == nil {
		o.timer = time.AfterFunc(wait, d.watch)
	} else {
		o.timer.Reset(wait)
	}
}

// endOutage records that the destination has accepted something, or that there
// will be no more attempts.
func (d *account) endOutage() {
	d.chain.Lock()
	defer d.chain.Unlock()
	d.outage.since, d.outage.err = time.Time{}, nil
	if d.outage.timer != nil {
		d.outage.timer.Stop()
	}
}

// attemptFailed reports err, unless there was a report within the last minute.
func (d *account) attemptFailed(err error) {
	d.chain.Lock()
	d.outage.err = err
	d.reportOutage()
}

// watch reports an outage that has lasted for OutageDelay, and then once a
// minute.
func (d *account) watch() {
	d.chain.Lock()
	if d.outage.since.IsZero() || d.Options.Context.Err() != nil {
		d.chain.Unlock()
		return
	}
	d.outage.timer.Reset(outagePause)
	d.reportOutage()
}

// reportOutage reports an outage and the size of the backlog, and unlocks the
// spool.
func (d *account) reportOutage() {
	o, now := &d.outage, time.Now()
	if now.Sub(o.reported) < outagePause {
		d.chain.Unlock()
		return
	}
	o.reported = now
	err, text := o.err, d.backlog(now)
	if err == nil {
		err = fmt.Errorf("%w for %v", ErrNoAnswer, now.Sub(o.since).Round(time.Second))
	}
	d.chain.Unlock()
	d.spool.Report("deliver to "+d.Options.Label, &outageError{err, TextOf(err) + "; " + text})
}

// An outageError reports why a destination accepts nothing, and the backlog.
// Its text is taken by [TextOf]: package fmt does not recover every panic in
// it.
type outageError struct {
	err  error
	text string
}

func (e *outageError) Error() string { return e.text }

func (e *outageError) Unwrap() error { return e.err }

// backlog describes the backlog of the destination. The lock of the chain is
// held.
func (d *account) backlog(now time.Time) string {
	next := d.chain.nextNumber()
	text := fmt.Sprintf("%d lines wait, of up to %d bytes", next-d.Settled-d.Skipped,
		d.pendingBytes())
	if d.outage.oldest != 0 {
		text += fmt.Sprintf(", the oldest for %v", d.age(now).Round(time.Second))
	}
	return text
}

// age returns the time for which the first record of the last attempt has been
// waiting, 0 if its time is not known. The lock of the chain is held.
func (d *account) age(now time.Time) time.Duration {
	return AgeOf(now, d.outage.oldest)
}

// pendingBytes returns an upper bound of the pending bytes. It reads no files.
// The lock of the chain is held.
func (d *account) pendingBytes() (bytes int64) {
	for _, l := range d.chain.from(d.cur) {
		size := l.Size
		if l.Live != nil {
			end, _, _ := l.Live.Claimed()
			size = int64(end)
		}
		bytes += size - segment.HeaderSize
	}
	return bytes
}

// Pending returns an upper bound of the bytes that are not delivered, and the
// age of the oldest line. The lock of the chain is held.
func (d *account) Pending(now time.Time) (bytes int64, age time.Duration) {
	if d.chain.nextNumber() == d.Settled+d.Skipped {
		return 0, 0
	}
	return d.pendingBytes(), d.age(now)
}

// AgeOf returns how old a record of some Time is, or 0 if the time is unknown.
func AgeOf(now time.Time, oldest int64) time.Duration {
	if oldest == 0 {
		return 0
	}
	return max(now.Sub(time.Unix(0, oldest)), 0)
}
