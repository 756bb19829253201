// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"math"
	"strings"

	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/plan"
	"github.com/nib-log/nib/internal/usercode"
)

// An Event is a log line being built. The level methods of a Logger return one
// from a pool; the field methods append to it and return it, so that calls
// chain; Msg, Msgf, MsgFunc or Send writes the line and ends the event. If
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
//
// Loggers make Events. Another Event, such as new(nib.Event), must not be used.
type Event struct {
	// buf is the line so far. The first byte of the line, and of every object
	// and array in it, is written last: each member begins with a comma, and
	// the first comma becomes the brace or bracket when the container is
	// closed.
	buf []byte

	// reservedBits has bit keyBit(k) set for every key k that is reserved here;
	// a key whose bit is set needs checkKey. It is noneReserved in objects and
	// groups, and allReserved where no field may be added: in an array, in the
	// value of a field, and in an idle event.
	reservedBits uint64

	log   *Logger
	level Level
	depth int32 // number of open containers and calls of user code; negative if idle
	flags flags

	tooDeep int32 // number of levels that enter has refused; each lowers its limit by one

	carried []*Logger      // loggers of contexts, whose bound fields are added when the groups end
	user    usercode.Entry // while depth > 0: counts this line among the lines on this stack
	front   front

	fieldsAt, groupsAt    int // offsets in buf of the fields, and of the fields of pending groups
	callerAt, callerEnd   int // the caller field in buf, when hasCaller
	messageAt, messageEnd int // the text of the message in buf, when hasMessage

	sec     int64 // the line's time
	nsec    int32
	pc      uintptr
	message string // the message of an Entry, written by Send

	record Record           // passed to the sink
	ended  invariants.Stack // stack of the call that finished the event

	memory
}

// memory is kept for the next line.
type memory struct {
	second, fieldSecond jsonenc.SecondCache // caches for the line's time and for time fields
	scratch             []byte              // formatted messages; the second buffer of edits
	edited              *jsonread.Scratch   // memory of edits
	line                plan.Line           // writes parts of the values that plans encode
	keys                []string            // keys being sorted; used as a stack by nested maps
	pcs                 []uintptr           // program counters collected by Stack
}

type flags uint32

const (
	// The kind of the line, set when it begins; Discard also sets muted.
	muted      flags = 1 << iota // fields are added, but the line is not written
	building                     // the fields are for a logger, a layout or a call site, not a line
	isEntry                      // Send writes message
	noLevelKey                   // the line shows no level
	thenPanic                    // panic once the line is written
	thenExit                     // exit once the line is written

	// Where the next field is added; restored when a container ends.
	nested  // inside a container
	inArray // the innermost container is an array
	inValue // user code is returning the value of a field: no field can be added
	inError // in Layout.Error, which writes the keys of an error

	// The contents of the line.
	hasTime   // sec and nsec
	timeShown // the time field
	hasCaller
	hasStack
	hasMessage
	movesMessage // the message belongs before the fields, but was not known then
	hasError     // a field of Err; from then on format.errorKeys are reserved
	tooLarge     // values were cut because the line had reached core.sizeLimit
	hasErrorKey  // a field not added by Err has one of format.errorKeys

	inPlace = nested | inArray | inValue | inError

	notPlain = muted | thenPanic | thenExit | movesMessage | isEntry | tooLarge
)

const (
	noneReserved = 0
	allReserved  = math.MaxUint64

	idle     = -1      // depth of an event in the pool
	keepSize = 1 << 16 // larger buffers are not kept for the next line (golang/go#23199)
	startCap = 512

	// beyondMaxLine is how far values are encoded beyond the limit of
	// WithMaxLine, which cuts the longest texts first: it has to see them.
	beyondMaxLine = 1 << 20
)

// Enabled reports whether e will be written: false if it is nil or discarded.
func (e *Event) Enabled() bool { return e != nil && e.flags&muted == 0 && e.depth >= 0 }

// Discard keeps the line from being written. Panic and Fatal still act. The
// event must still be finished.
func (e *Event) Discard() *Event {
	if e.isActive() {
		e.flags |= muted
	}
	return e
}

// Lookup finds the top-level field key among those added so far, including
// bound fields, and returns its value as raw JSON: a part of the line that is
// valid until the next call on e. Of several fields with one key it finds the
// last.
func (e *Event) Lookup(key string) (json []byte, ok bool) {
	if e == nil || e.depth < 0 {
		return nil, false
	}
	escaped := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
	if strings.IndexFunc(key, escaped) < 0 && !strings.Contains(jsonenc.View(e.buf), key) {
		return nil, false // lines are written without needless escapes
	}
	return jsonread.Lookup(e.buf, key)
}
