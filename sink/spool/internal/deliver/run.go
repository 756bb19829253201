// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// ErrEnded is the error of a destination that calls [runtime.Goexit].
var ErrEnded = errors.New("the destination ended the goroutine that called it")

// Run delivers records until the sink is closed and everything is settled, or
// until its context ends. Then it calls done, on the goroutine that delivered
// last: if a destination ends the goroutine, or a panic outside of its calls
// does, delivery continues on another one, with the first unsettled record.
func (d *Delivery) Run(done func()) {
	ended := false
	defer func() {
		if ended {
			done()
			return
		}
		err := ErrEnded
		defer func() { // runs even if the text of the panic ends the goroutine
			if d.finishing { // a second attempt would end in the same way
				d.spool.Fault("deliver to "+d.Options.Label, err)
				done()
				return
			}
			d.interrupted(err)
			go d.Run(done)
		}()
		err = interruption(recover())
	}()
	d.deliverAll()
	d.finishing = true
	d.finish()
	ended = true
}

// interruption returns the error for a goroutine that has ended with panic
// value p, or by runtime.Goexit.
func interruption(p any) error {
	if p == nil {
		return ErrEnded
	}
	return fmt.Errorf("panic: %s\n%s", usercode.PanicText(p), debug.Stack())
}

// interrupted counts an attempt that has ended the goroutine as failed, and
// waits. If the destination had accepted records, and another of its methods
// ended the goroutine, those records are settled.
func (d *Delivery) interrupted(err error) {
	if done := d.accepted; len(done) > 0 && done[0].Seq == d.position() {
		d.accepted = nil
		refused := slices.Clone(d.rejections)
		for i := range refused {
			// The destination's own error may end this goroutine as well.
			refused[i].Reason = ErrEnded
		}
		d.settleBatch(done, refused)
	}
	d.accepted = nil
	d.chain.Lock()
	d.Since = time.Time{}
	d.Failures++
	settled := d.Settled
	d.chain.Unlock()
	rest := d.batch
	for len(rest) > 0 && rest[0].Seq < settled {
		rest = rest[1:]
	}
	d.retain(rest)
	d.attemptFailed(err)
	d.wait()
}

// deliverAll is the loop of Run.
func (d *Delivery) deliverAll() {
	for d.Options.Context.Err() == nil {
		ended, busy := d.fill()
		switch {
		case len(d.batch) > 0:
			d.deliver()
		case ended:
			closed := d.chain.IsClosed() // checked first: after it no segment is added
			if d.leave() {
				continue
			}
			if closed {
				return
			}
			select {
			case <-d.wakeup: // woken by install or Close
			case <-d.Options.Context.Done():
			}
		case busy:
			time.Sleep(50 * time.Microsecond) // a writer was suspended between reserve and commit
		default:
			d.sleep()
		}
	}
}

// finish ends an outage, stores a position that could not be stored, and counts
// the records left in memory.
func (d *Delivery) finish() {
	d.endOutage()
	if d.stale {
		d.storePosition()
	}
	if d.dir == nil {
		d.abandon()
	}
}

// abandon counts the records in memory that are lost when the sink closes.
func (d *Delivery) abandon() {
	for {
		for _, r := range d.batch {
			d.chain.Lock()
			d.LinesLeft++
			d.Dropped.Add(segment.CauseClosed, r.Level, 1)
			d.Settled++
			d.chain.Unlock()
		}
		d.retain(nil)
		ended, busy := d.fill()
		if len(d.batch) == 0 && ended && !d.leave() {
			return
		}
		if busy {
			time.Sleep(50 * time.Microsecond)
		}
	}
}
