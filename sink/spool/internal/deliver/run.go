// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// ErrEnded is the error of a destination that calls [runtime.Goexit].
var ErrEnded = errors.New("the destination ended the goroutine that called it")

// Run delivers records until the sink is closed and everything is settled, or
// until its context ends. Then it calls done, on the goroutine that delivered
// last: if a destination ends the goroutine, or a panic does that no call of a
// destination has caused, delivery goes on in another one, with the first
// record that is not settled.
func (d *Delivery) Run(done func()) {
	ended := false
	defer func() {
		switch {
		case ended:
			done()
		case d.finishing: // its second attempt would end in the same way
			d.spool.Fault("deliver to "+d.Options.Label, interruption(recover()))
			done()
		default:
			d.interrupted(interruption(recover()))
			go d.Run(done)
		}
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
// waits.
func (d *Delivery) interrupted(err error) {
	d.spool.Lock()
	d.Since = time.Time{}
	d.Failures++
	settled := d.Settled
	d.spool.Unlock()
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
			closed := d.spool.IsClosed() // checked first: after it no segment is added
			if d.leave() {
				continue
			}
			if closed {
				return
			}
			select {
			case <-d.wakeup: // by install or Close
			case <-d.Options.Context.Done():
			}
		case busy:
			time.Sleep(50 * time.Microsecond) // a writer was suspended between reserve and commit
		default:
			d.sleep()
		}
	}
}

// finish ends an outage, and counts the records left in memory.
func (d *Delivery) finish() {
	d.endOutage()
	if d.dir == nil {
		d.abandon()
	}
}

// abandon counts the records in memory that are lost when the sink closes.
func (d *Delivery) abandon() {
	for {
		for _, r := range d.batch {
			d.spool.Lock()
			d.LinesLeft = true
			d.Dropped.Add(segment.CauseClosed, r.Level, 1)
			d.Settled++
			d.spool.Unlock()
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
