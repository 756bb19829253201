// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/clock"
	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/usercode"
)

// An Event is a log line being built. The level methods of a Logger return one
// from a pool; the field methods append to it and return it, so that calls
// chain; Msg, Msgf, MsgFunc or Send writes the line and puts the event back. If
// the level is disabled, the event is nil, and its methods do nothing.
//
// An Event is used by one goroutine and must not be used after Msg, Msgf,
// MsgFunc or Send. A call on a finished event that is still idle is ignored and
// counted; once the pool has reused the event, it is a data race. Builds with
// -race or the tag invariants never reuse an event, and report each such call
// with the stack that finished it.
//
// Arguments are copied into the line at once and never kept. If a method of an
// argument (Error, String, MarshalJSON, …) panics, the field contains the text
// of the panic, and the line is written.
type Event struct {
	// buf is the line so far. Its first byte and that of every object and array
	// in it is written last: each member begins with a comma, and the first
	// comma becomes the brace or bracket when the container is closed.
	buf []byte

	// watched has bit keyBit(k) set for every key k that is reserved here; a
	// key whose bit is set needs checkKey. Inside an array and in an idle event
	// all bits are set, since no key may be added there.
	watched uint64

	log   *Logger
	level Level
	nest  int32 // containers and callbacks that are open; idle below zero
	flags flags

	tooDeep int32 // how often the field has met the limit of nesting

	carried    *Logger        // logger of the context; its fields are added when the groups end
	user       *usercode.Slot // set while user code runs, for the goroutine that runs it
	front      front
	head, body int // where the fields begin; where those of the pending group do

	callerAt, callerEnd   int // the caller field in buf, when hasCaller
	messageAt, messageEnd int // the text of the message in buf, when hasMessage

	sec     int64 // the line's time
	nsec    int32
	pc      uintptr
	message string // of an Entry, written by Send

	second, fieldSecond jsonenc.SecondCache // of the line's time, of the last time field
	scratch             []byte              // formatted messages, and the other buffer of edit
	edited              *jsonread.Scratch
	keys                []string // keys being sorted; used as a stack by nested maps
	pcs                 []uintptr
	record              Record
	ended               invariants.Stack
}

type flags uint32

const (
	muted     flags = 1 << iota // fields are taken, the line is not written
	inArray                     // the innermost container is an array
	nested                      // a container is open
	inValue                     // a user method returns the value of a field: none can be added
	hasTime                     // sec and nsec are set
	timeShown                   // the line has its time field
	hasCaller
	hasStack
	hasMessage
	messageFirst // and it is in front of the fields already
	isEntry      // Send writes message
	thenPanic    // what Panic does after its line
	thenExit     // what Fatal does
	noLevelKey   // the line shows no level
	building     // there is no line: the fields are for a logger, a layout or a call site
	hasError     // Err has added an error: its keys are reserved
	earlyError   // a field has one of the keys of an error, perhaps before Err
	inError      // Err is writing those keys
)

const (
	idle     = -1      // nest of an event in the pool
	maxDepth = 32      // of containers within containers
	keepSize = 1 << 16 // a buffer above this is not kept for the next line (golang/go#23199)
	startCap = 512
)

var eventPool = sync.Pool{New: func() any { return newEvent() }}

func newEvent() *Event {
	return &Event{buf: make([]byte, 0, startCap), nest: idle, watched: math.MaxUint64}
}

// acquire takes an event from the pool for l. It is just small enough to be
// inlined.
func acquire(l *Logger) *Event {
	if invariants.Enabled {
		return newEvent().lend(l)
	}
	return eventPool.Get().(*Event).lend(l)
}

func (e *Event) lend(l *Logger) *Event {
	e.log, e.nest, e.watched = l, 0, l.watched
	return e
}

// release makes e idle and returns it to the pool. In an idle event every key
// is watched, so checkKey counts a stale call, which adds nothing.
func (e *Event) release() {
	e.nest, e.watched, e.flags = idle, math.MaxUint64, 0
	if invariants.Enabled || cap(e.buf) > keepSize {
		e.retire()
		return
	}
	e.log = idleLogger
	eventPool.Put(e)
}

// retire is release for an event whose buffer must not be reused.
func (e *Event) retire() {
	if invariants.Enabled {
		e.ended.Record()
		invariants.Poison(e.buf)
		return
	}
	e.buf, e.front.of = make([]byte, 0, startCap), 0
	e.release()
}

// builder is an event that collects fields and is never written.
func (l *Logger) builder() *Event {
	e := acquire(l)
	e.front.of, e.buf = 0, e.buf[:0]
	e.flags = building
	return e
}

// isWatched reports whether checkKey must look at key. It is inlined: calls
// would take a tenth of the time of a line with ten fields.
func (e *Event) isWatched(key string) bool { return e.watched>>keyBit(key)&1 != 0 }

// keyBit is a hash of a key's ends and length, 0 to 63. Of the usual keys in
// logs few share a bit with the default reserved ones.
func keyBit(key string) uint {
	n := uint(len(key))
	if n == 0 {
		return 0
	}
	return (uint(key[0]) + uint(key[n-1])<<2 + n<<4) & 63
}

// checkKey returns the key that a field with this key is written under, or
// false if no field may be added.
func (e *Event) checkKey(key string) (string, bool) {
	if e.nest < 0 {
		e.misused("a field was added to a finished event")
		return "", false
	}
	if e.flags&(inArray|inValue) != 0 {
		e.misused("a field was added to an array or to the value of another field")
		return "", false
	}
	f := e.log.core.format
	if k := f.reserved.prefixed(key); k != "" {
		return k, true
	}
	if e.flags&inError != 0 {
		return key, true
	}
	if k := f.errors.prefixed(key); k != "" {
		if e.hasError() {
			return k, true
		}
		e.flags |= earlyError
	}
	return key, true
}

func (e *Event) hasError() bool { return (e.flags|e.log.errors)&hasError != 0 }

// claimErrorKeys reserves the keys of an error that is about to be added.
// Fields that have one of them already are renamed.
func (e *Event) claimErrorKeys() {
	if e.watched == 0 { // in a container or a group
		return
	}
	if had := e.flags | e.log.errors; had&(hasError|earlyError) == earlyError {
		for _, k := range e.log.core.format.errors.keys {
			field := jsonenc.AppendKey(nil, k[len(reservedPrefix):])
			for {
				value, _, ok := jsonread.Locate(e.buf, k[len(reservedPrefix):])
				if !ok {
					break
				}
				at := value - len(field) + len(`,"`)
				e.splice(at, at, reservedPrefix)
			}
		}
	}
	e.flags |= hasError
}

// splice replaces buf[from:end] with text and moves the offsets behind it.
func (e *Event) splice(from, end int, text string) {
	if from < e.front.end {
		e.front.of = 0
	}
	shift := len(text) - (end - from)
	e.buf = slices.Replace(e.buf, from, end, []byte(text)...)
	for _, at := range []*int{&e.head, &e.body, &e.callerAt, &e.callerEnd, &e.messageAt, &e.messageEnd} {
		if *at >= end {
			*at += shift
		}
	}
}

// Enabled reports whether the event will be written: it is neither nil nor
// discarded.
func (e *Event) Enabled() bool { return e != nil && e.flags&muted == 0 && e.nest >= 0 }

// Discard keeps the line from being written. Panic and Fatal still act. The
// event must still be finished.
func (e *Event) Discard() *Event {
	if e.isOpen() {
		e.flags |= muted
	}
	return e
}

// Lookup finds the top-level field key among what has been added so far, bound
// fields included, and returns its value as raw JSON: a part of the line that
// is valid until the next call on e. Of several fields with one key it finds
// the last.
func (e *Event) Lookup(key string) (json []byte, ok bool) {
	if e == nil || e.nest < 0 {
		return nil, false
	}
	return jsonread.Lookup(e.buf, key)
}

// time reads the clock once for the line.
func (e *Event) time() (sec int64, nsec int32) {
	if e.flags&hasTime == 0 {
		e.flags |= hasTime
		if e.log.core.now != nil {
			t := e.log.core.readClock()
			e.sec, e.nsec = t.Unix(), int32(t.Nanosecond())
		} else {
			now := clock.Now()
			e.sec, e.nsec = now/1e9, int32(now%1e9)
		}
	}
	return e.sec, e.nsec
}

// isOpen reports whether e is an event that has not been finished, and counts
// the call if it has.
func (e *Event) isOpen() bool {
	if e != nil && e.nest < 0 {
		e.misused("a field was added to a finished event")
	}
	return e != nil && e.nest >= 0
}

// acceptsOwnField reports whether one of nib's own fields may be added to e:
// once only (the flag unless records it), at the top level of a line, and not
// in a builder, which stores no positions.
func (e *Event) acceptsOwnField(unless flags) bool {
	return e.isOpen() && e.flags&(unless|nested|inValue|building) == 0
}

// Timestamp adds the time of the line where the layout leaves it out. Like
// Caller, CallerSkipFrame and Stack it does nothing inside of a container: what
// it adds belongs to the line.
func (e *Event) Timestamp() *Event {
	if !e.acceptsOwnField(timeShown) {
		return e
	}
	e.flags |= timeShown
	f := e.log.core.format
	key := f.timeKey
	if key == "" {
		key = `,"time":`
	}
	loc := f.TimeZone
	if f.KeepZone {
		loc = time.Local
	}
	sec, nsec := e.time()
	e.buf = append(e.buf, key...)
	e.buf = f.time.AppendCached(e.buf, &e.second, sec, int(nsec), loc)
	return e
}
