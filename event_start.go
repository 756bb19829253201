// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"math"
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
	of       uint64 // id of the logger; 0: the buffer holds nothing of use
	level    Level
	nanos    int64 // when the second began, Unix nanoseconds; 0 without a time
	end      int   // its length
	fraction int   // where the digits of the fraction begin
}

// noLevel is the level shown by a line of Logger.Log.
const noLevel = Level(math.MinInt + 1)

// start begins the line: time, level, logger, caller, constant and bound
// fields. show is the level shown, and msg is nil where the message is not
// known yet.
func (l *Logger) start(level, show Level, pc uintptr, msg *string) *Event {
	e, c := acquire(l), l.core
	e.level = level
	same := e.front.of == l.id && e.front.level == show
	switch {
	case c.now != nil:
		t := c.readClock()
		e.sec, e.nsec = t.Unix(), int32(t.Nanosecond())
		e.flags = hasTime
		e.writeFront(show, t.Location())
		e.front.of = 0 // the next reading may have another zone
	case c.format.timeKey == "":
		if same {
			e.buf = e.buf[:e.front.end]
		} else {
			e.writeFront(show, nil)
		}
	default:
		now := clock.Now()
		e.flags = hasTime | timeShown
		if since := uint64(now - e.front.nanos); same && since < uint64(time.Second) {
			e.nsec = int32(since)
			e.buf = e.buf[:e.front.end]
			jsonenc.PutFraction(e.buf[e.front.fraction:], uint32(since), c.format.fraction)
		} else {
			e.sec, e.nsec = now/1e9, int32(now%1e9)
			e.writeFront(show, time.Local)
		}
	}
	if c.splitFront {
		e.addRest(pc, msg)
	}
	return e
}

// writeFront writes the front and notes what it is. own is the zone that the
// time came in.
func (e *Event) writeFront(show Level, own *time.Location) {
	l := e.log
	f := l.core.format
	e.front = front{of: l.id, level: show}
	buf := e.buf[:0]
	if f.timeKey != "" {
		buf = append(buf, f.timeKey...)
		buf = f.time.AppendCached(buf, &e.second, e.sec, int(e.nsec), f.zone(own))
		e.flags |= timeShown
		if f.fraction < 0 || e.sec <= 0 || e.sec > maxFrontSec {
			e.front.of = 0
		} else {
			e.front.nanos = e.sec * 1e9
			e.front.fraction = len(buf) - jsonenc.FractionTail(buf) - f.fraction
		}
	}
	if show != noLevel {
		buf = append(buf, f.level(show, &l.core.state.aborted)...)
	}
	e.buf = append(buf, l.nameField...)
	if !l.core.splitFront {
		e.addBound()
	}
	e.front.end = len(e.buf)
}

// maxFrontSec keeps the nanoseconds of a front within an int64.
const maxFrontSec = math.MaxInt64/1_000_000_000 - 1

// addRest adds what follows the front when it does not end in the bound fields:
// the caller, and the message if it comes first and is known.
func (e *Event) addRest(pc uintptr, msg *string) {
	if pc != 0 {
		e.addCaller(pc)
	}
	if e.log.core.format.MessageFirst {
		if msg != nil {
			e.addMessage(*msg)
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

// AtDepth starts an event for another front end, which has compared the level: it
// is not compared again, only sampled. The call site is depth callers above the
// call of AtDepth. It never exits or panics. 0 allocs.
func (l *Logger) AtDepth(level Level, depth int) *Event { return l.unfiltered(level, level, depth+1) }

// unfiltered starts an event that no level switches off.
func (l *Logger) unfiltered(level, show Level, depth int) *Event {
	if l.discards() || l.core.sampler != nil && !l.sample(l.core.sampler, level) {
		return nil
	}
	var pc uintptr
	if l.core.caller {
		pc = callsite.PC(depth)[0]
	}
	return l.start(level, show, pc, nil)
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

// Entry starts an event for a line that another front end has made. The level
// has been decided there and is not looked at again; a sampler is. Finish it
// with Send, which writes en.Message. It never exits or panics. 0 allocs.
func (l *Logger) Entry(en Entry) *Event {
	if l.discards() || l.core.sampler != nil && !l.sample(l.core.sampler, en.Level) {
		return nil
	}
	return l.startEntry(&en)
}

// startEntry is start for a line made elsewhere.
func (l *Logger) startEntry(en *Entry) *Event {
	e, c := acquire(l), l.core
	e.level = en.Level
	f := c.format
	e.message, e.flags, e.front.of = en.Message, isEntry, 0
	buf := e.buf[:0]
	if !en.Time.IsZero() {
		e.sec, e.nsec = en.Time.Unix(), int32(en.Time.Nanosecond())
		e.flags |= hasTime
		if f.timeKey != "" {
			buf = append(buf, f.timeKey...)
			buf = f.time.AppendCached(buf, &e.second, e.sec, int(e.nsec), f.zone(en.Time.Location()))
			e.flags |= timeShown
		}
	}
	buf = append(buf, f.level(en.Level, &c.state.aborted)...)
	if en.Stack != "" && f.StackKey != OmitKey {
		buf = jsonenc.AppendKeyString(buf, f.StackKey, en.Stack)
		e.flags |= hasStack
	}
	e.buf = append(buf, l.nameField...)
	pc := en.PC
	if !c.caller {
		pc = 0
	}
	e.addRest(pc, &en.Message)
	return e
}
