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

// A front describes what the buffer of an idle event still begins with:
// everything before the fields of its last line. The next line of the same
// logger and level, in the same second, differs in the fraction of the second
// only, so only these digits are written. Nothing overwrites the front of an
// idle event: stale calls write nothing, and the buffer only grows at its end.
type front struct {
	of       uint64 // id of the logger; 0: the buffer has no front
	level    Level
	nanos    int64 // when the second began, Unix nanoseconds; 0 without a time
	end      int   // its length
	fraction int   // where the digits of the fraction begin
}

// noLevel is the level in the front of a line without a level.
const noLevel = Level(math.MinInt + 1)

// An origin is what begin cannot find itself: the call site, 0 if it is unknown
// or not shown, and the message, nil if it is not known yet.
type origin struct {
	pc  uintptr
	msg *string
}

// begin starts the event that a level method returns, and that of each other
// way to log: isOff and admits decide whether there is a line, package callsite
// finds the call site, and the rest writes what precedes the fields: time,
// level, logger, caller, constant and bound fields. A caller that has an origin
// has done the first two. The others have called isOff if how is 0; the call
// site is the return address of begin, since the level methods are inlined. It
// is one function because another call would take 1 ns.
//
//go:noinline
func (l *Logger) begin(level Level, how flags, from *origin) *Event {
	var site [1]uintptr
	if from != nil {
		site[0] = from.pc
	} else {
		if how != 0 {
			if l, how = l.admit(level, how); l == nil {
				return nil
			}
		} else if !l.admits(level) {
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
	same := e.front.of == l.id && e.front.level == show
	switch {
	case same && e.front.nanos == 0: // without a time
		e.buf = e.buf[:e.front.end]
	case c.now != nil:
		t := c.readClock()
		e.setTime(t)
		e.writeFront(show, t.Location(), "")
		e.front.of = 0 // the next reading may have another zone
	case c.format.timeKey == "":
		e.writeFront(show, nil, "")
	default:
		now := clock.Now()
		e.flags |= hasTime | timeShown
		if since := uint64(now - e.front.nanos); same && since < uint64(time.Second) {
			e.nsec = int32(since)
			e.buf = e.buf[:e.front.end]
			jsonenc.PutFraction(e.buf[e.front.fraction:], uint32(since), c.format.fraction)
		} else {
			e.sec, e.nsec = now/1e9, int32(now%1e9)
			e.writeFront(show, time.Local, "")
		}
	}
	if c.splitFront {
		e.addRest(site[0], from)
	}
	return e
}

// isOff is the first comparison of a log call. It is inlined into the level
// methods, and with them into the program.
func (l *Logger) isOff(level Level) bool { return l == nil || l.min > level }

// admits decides what isOff cannot: a Leveler's level, and sampling.
func (l *Logger) admits(level Level) bool { return l.direct || l.admitsSlowly(level) }

func (l *Logger) admitsSlowly(level Level) bool {
	return !l.discards() && level >= l.Level() && l.isSampled(level)
}

// isSampled reports whether the sampler, if any, lets a line pass.
func (l *Logger) isSampled(level Level) bool {
	return l.core.sampler == nil || l.sample(l.core.sampler, level)
}

// admit is admits for Panic, Fatal and Log. Panic and Fatal need an event even
// if there is no line; that event is muted.
func (l *Logger) admit(level Level, how flags) (*Logger, flags) {
	final := how&(thenPanic|thenExit) != 0
	switch {
	case l.discards():
		l = idleLogger
	case final && (l.isOff(level) || !l.admits(level)):
	case !final && !l.isSampled(level):
	default:
		return l, how
	}
	if !final {
		return nil, how
	}
	return l, how | muted
}

// setTime sets the time of the line.
func (e *Event) setTime(t time.Time) {
	e.sec, e.nsec = t.Unix(), int32(t.Nanosecond())
	e.flags |= hasTime
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
	e.buf = append(buf, l.nameField...)
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
	if pc != 0 {
		e.addCaller(pc)
	}
	if e.log.core.format.MessageFirst {
		if from != nil && from.msg != nil {
			e.addMessage(*from.msg)
			e.flags |= messageFirst
		}
		e.head = len(e.buf)
	}
	e.addBound()
}

// addBound adds the constant and the bound fields.
func (e *Event) addBound() {
	l := e.log
	e.buf = append(append(e.buf, l.core.format.static...), l.bound...)
	if l.waiting > 0 {
		e.buf = append(e.buf, l.pending...)
		e.body = len(e.buf)
	}
}

// AtDepth starts an event for another front end, which has compared the level:
// it is not compared again, only sampled. The call site is depth callers above
// the call of AtDepth. It never exits or panics. 0 allocs.
func (l *Logger) AtDepth(level Level, depth int) *Event {
	if l.discards() || !l.isSampled(level) {
		return nil
	}
	var pc uintptr
	if l.core.caller {
		pc = callsite.PC(depth)[0]
	}
	return l.begin(level, 0, &origin{pc: pc})
}

// An Entry is a line that another front end (slog, logrus, a bridge) passes to
// nib.
type Entry struct {
	Time    time.Time // the zero Time leaves the time out
	Level   Level
	PC      uintptr // call site as runtime.Callers gives it; 0: unknown
	Message string
	Stack   string // of the goroutine, if the front end has taken it
}

// Entry starts an event for a line from another front end, which has compared
// the level: it is not compared again, only sampled. Finish it with Send, which
// writes en.Message. It never exits or panics. 0 allocs.
func (l *Logger) Entry(en Entry) *Event {
	if l.discards() || !l.isSampled(en.Level) {
		return nil
	}
	e, c := acquire(l), l.core
	e.level, e.message, e.flags = en.Level, en.Message, isEntry
	if !en.Time.IsZero() {
		e.setTime(en.Time)
	}
	e.writeFront(en.Level, en.Time.Location(), en.Stack)
	e.front.of = 0 // the next line of the logger has the time of the clock
	if c.splitFront {
		e.addRest(c.site(en.PC), &origin{msg: &en.Message})
	}
	return e
}

// site returns the call site if lines show it, and otherwise 0.
func (c *core) site(pc uintptr) uintptr {
	if !c.caller {
		return 0
	}
	return pc
}
