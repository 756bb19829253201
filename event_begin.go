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

// beginOptions are the arguments of begin that Info and the other level methods
// do not pass: either flags alone, or pc and msg.
type beginOptions struct {
	// flags are set by Panic, Fatal and Log, whose level and sampler passSpecial
	// applies. If flags is 0, the caller of begin has applied them.
	flags flags

	pc  uintptr // the call site; 0 if it is unknown or not shown
	msg *string // nil if the message is not known yet
}

// A front is the beginning of a logger's lines at one level: time, level, name,
// and the bound fields, unless the call site or the message precedes them. Two
// fronts of the same second differ only in its fraction. So an idle event keeps
// the bytes of its last line, and begin reuses their front.
//
// If of is not 0, these hold for the last line of that logger:
//
//   - buf[1:end] is its front; buf[0] is a brace, see Event.buf
//   - Event.groupsAt is its offset
//   - Event.fieldsAt is its offset, unless core.splitFront is set
//
// Only newFront and Entry set of. Code that overwrites or cuts the front clears
// Event.front; fields are appended behind it.
type front struct {
	of         uint64 // Logger.id, or ^id if Entry has written it; 0: the front cannot be reused
	level      Level
	sec        int64 // the second of the time
	fractionAt int   // where the digits of its fraction begin; 0 without a time
	fixed      int   // the end of time and level, if edits skip them
	end        int
}

// begin starts an event, for every way to log but Entry. There are three steps:
// belowMin and passes decide whether there is a line, package callsite finds
// the call site, and the rest writes the parts before fields. Level methods,
// which have called belowMin and are inlined, pass no options: the call site is
// the return address. A further call costs 1 ns, as do two more arguments.
//
//go:noinline
func (l *Logger) begin(level Level, o *beginOptions) *Event {
	if o != nil {
		if l = l.passSpecial(level, o); l == nil {
			return nil
		}
	} else if !l.passes(level) {
		return nil
	}
	e, c := acquire(l), l.core
	e.level, e.flags = level, 0
	if o != nil {
		if e.flags = o.flags; e.flags&noLevelKey != 0 {
			level = noLevel
		}
	}
	if last := &e.front; last.of != l.id || last.level != level {
		e.newFront(level)
	} else if last.fractionAt == 0 {
		e.buf = e.buf[:last.end]
	} else if since := uint64(clock.Now() - last.sec*1e9); since < 1e9 {
		// false if the clock went back
		e.sec, e.nsec = last.sec, int32(since)
		e.flags |= hasTime | timeShown
		e.buf = e.buf[:last.end]
		jsonenc.PutFraction(e.buf[last.fractionAt:], uint32(since), c.format.fraction)
	} else {
		e.newFront(level)
	}
	if c.splitFront {
		var site [1]uintptr
		if o != nil && o.flags == 0 {
			site[0] = o.pc
		} else if c.caller {
			if callsite.HasFast() {
				site[0] = callsite.Fast()
			} else {
				runtime.Callers(2, site[:]) // 2 skips Callers and begin; PC would cost a frame more
			}
		}
		e.addRest(site[0], o)
	}
	return e
}

// passSpecial applies the level and the sampler for Log, which has no level,
// and for Panic and Fatal. If there is no line, Panic and Fatal get a muted
// event; with a nil Logger the event belongs to idleLogger. Fatal exits even if
// a Leveler or a sampler ends the goroutine. The Logger is nil if there is no
// event.
func (l *Logger) passSpecial(level Level, o *beginOptions) *Logger {
	switch {
	case o.flags == 0:
	case o.flags&noLevelKey != 0:
		if l.discards() || !l.isSampled(level) {
			return nil
		}
	case l.discards():
		prepareIdle()
		l, o.flags = idleLogger, o.flags|muted
	default:
		orLost(func() { l.act(o.flags&thenExit, "") }, func() {
			if l.belowMin(level) || !l.passes(level) {
				o.flags |= muted
			}
		})
	}
	return l
}

// noLevel is the level in the front of a line without a level. A line may have
// this level, too.
const noLevel = Level(math.MinInt + 1)

// newFront takes the time, if lines have one, and writes the front. It can be
// reused unless its time comes from WithClock (the next one may have another
// zone), is before 1970, or has a fraction of varying length.
func (e *Event) newFront(show Level) {
	c := e.log.core
	if c.now != nil {
		t := e.readClock()
		e.setTime(t)
		e.writeFront(show, t.Location(), "")
		return
	}
	if c.format.timeKey != "" {
		e.time()
	}
	e.writeFront(show, time.Local, "")
	if show == noLevel && e.flags&noLevelKey == 0 {
		return // it would be taken for the front of a line without a level
	}
	if e.front.fractionAt == 0 || c.format.fraction >= 0 && e.sec > 0 {
		e.front.of = e.log.id
	}
}

// writeFront writes the front and describes it in e.front. own is the zone of
// the time, and stack the Stack of an Entry.
func (e *Event) writeFront(show Level, own *time.Location, stack string) {
	l := e.log
	f := l.core.format
	e.front = front{level: show, sec: e.sec}
	buf := e.buf[:0]
	if f.timeKey != "" && e.flags&hasTime != 0 {
		buf = append(buf, f.timeKey...)
		buf = f.time.AppendCached(buf, &e.second, e.sec, int(e.nsec), f.zone(own))
		e.flags |= timeShown
		fractionEnd := len(buf) - jsonenc.FractionTail(buf) // a zone and a quote follow
		e.front.fractionAt = fractionEnd - max(f.fraction, -f.fraction)
	}
	if e.flags&noLevelKey == 0 {
		buf = append(buf, f.level(show, l.core)...)
	}
	if l.core.edits.skipsFront {
		e.front.fixed = len(buf)
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

// addRest adds the parts after a front without the bound fields: the caller,
// the message if it comes first and is known, and the bound fields (addBound).
func (e *Event) addRest(pc uintptr, o *beginOptions) {
	c := e.log.core
	if pc != 0 && c.caller {
		e.addCaller(pc)
	}
	if known := o != nil && o.msg != nil; c.format.MessageFirst && known {
		e.addMessage(*o.msg)
	} else if c.format.MessageFirst {
		e.flags |= movesMessage
	}
	e.addBound()
}
