// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"math"
	"runtime"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/clock"
	"github.com/nib-log/nib/internal/jsonenc"
)

// An origin is what begin cannot find itself: the call site, 0 if it is unknown
// or not shown, and the message, nil if it is not known yet.
type origin struct {
	pc  uintptr
	msg *string
}

// begin starts the event of every way to log in three steps: belowMin and passes
// decide whether there is a line, package callsite finds the call site, and the
// rest writes what precedes the fields. A caller that has an origin has done the
// first two. Level methods have called belowMin if how is 0; they are inlined,
// so the call site is the return address. Another call would take 1 ns.
//
//go:noinline
func (l *Logger) begin(level Level, how flags, from *origin) *Event {
	var site [1]uintptr
	if from != nil {
		site[0] = from.pc
	} else {
		if how != 0 {
			if l, how = l.passSpecial(level, how); l == nil {
				return nil
			}
		} else if !l.passes(level) {
			return nil
		}
		if l.core.caller {
			if site[0] = callsite.Fast(); site[0] == 0 {
				runtime.Callers(2, site[:]) // 2 skips Callers and begin; callsite.PC would cost one frame more
			}
		}
	}
	e, c := acquire(l), l.core
	e.level, e.flags = level, how
	show := level
	if how&noLevelKey != 0 {
		show = noLevel
	}
	reuse := e.front.of == l.id && e.front.level == show
	if reuse && e.front.nanos != 0 {
		since := uint64(clock.Now() - e.front.nanos)
		if reuse = since < uint64(time.Second); reuse {
			e.nsec, e.flags = int32(since), how|hasTime|timeShown
			jsonenc.PutFraction(e.buf[e.front.fraction:e.front.end], uint32(since), c.format.fraction)
		}
	}
	if reuse {
		e.buf = e.buf[:e.front.end]
	} else {
		e.newFront(show)
	}
	if c.splitFront {
		e.addRest(site[0], from)
	}
	return e
}

// A front describes what the buffer of an idle event still begins with:
// everything before the fields of its last line. The next line of the same
// logger and level, in the same second, differs in the fraction of the second
// only, so only these digits are written; the event still has the second. What
// cuts or edits the front sets of to 0, and stale calls write nothing.
type front struct {
	of       uint64 // id of the logger; 0: the buffer has no front
	level    Level
	nanos    int64 // when the second began, Unix nanoseconds; 0 without a time
	end      int   // its length
	fraction int   // where the digits of the fraction begin
}

// noLevel is the level in the front of a line without a level.
const noLevel = Level(math.MinInt + 1)

// newFront takes the time, if lines have one, and writes the front.
func (e *Event) newFront(show Level) {
	c := e.log.core
	if c.now != nil {
		t := c.readClock()
		e.setTime(t)
		e.writeFront(show, t.Location(), "")
		e.front.of = 0 // the next reading may have another zone
		return
	}
	if c.format.timeKey != "" {
		e.time()
	}
	e.writeFront(show, time.Local, "")
}

// writeFront writes the front and describes it in e.front. own is the zone of
// the time, and stack the Stack of an Entry.
func (e *Event) writeFront(show Level, own *time.Location, stack string) {
	l := e.log
	f := l.core.format
	e.front = front{of: l.id, level: show}
	buf := e.buf[:0]
	if f.timeKey != "" && e.flags&hasTime != 0 {
		buf = append(buf, f.timeKey...)
		buf = f.time.AppendCached(buf, &e.second, e.sec, int(e.nsec), f.zone(own))
		e.flags |= timeShown
		if f.fraction < 0 || e.flags&isEntry != 0 || e.sec <= 0 || e.sec > maxFrontSec {
			e.front.of = 0
		} else {
			e.front.nanos = e.sec * 1e9
			e.front.fraction = len(buf) - jsonenc.FractionTail(buf) - f.fraction
		}
	}
	if show != noLevel {
		buf = append(buf, f.level(show, &l.core.state.aborted)...)
	}
	if stack != "" && f.StackKey != OmitKey {
		buf = jsonenc.AppendKeyString(buf, f.StackKey, stack)
		e.flags |= hasStack
	}
	if l.nameField != "" {
		buf = append(buf, l.nameField...)
	}
	e.buf = buf
	if !l.core.splitFront {
		e.addBound()
	}
	e.front.end = len(e.buf)
}

// maxFrontSec keeps the nanoseconds of a front within an int64.
const maxFrontSec = math.MaxInt64/1_000_000_000 - 1

// addRest adds what follows a front without the bound fields: the caller, the
// message if it comes first and is known, and the bound fields.
func (e *Event) addRest(pc uintptr, from *origin) {
	c := e.log.core
	if pc != 0 && c.caller {
		e.addCaller(pc)
	}
	if f := c.format; f.MessageFirst {
		if from != nil && from.msg != nil && f.messageKey != "" {
			at := len(e.buf) + len(f.messageKey)
			e.buf = jsonenc.AppendTextString(e.buf, &f.messageText, *from.msg)
			e.markMessage(at)
			e.flags |= messageFirst
		}
		e.head = len(e.buf)
	}
	e.addBound()
}
