// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"math"

	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
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
type Event struct {
	// buf is the line so far. Its first byte and that of every object and array
	// in it is written last: each member begins with a comma, and the first
	// comma becomes the brace or bracket when the container is closed.
	buf []byte

	// reservedBits has bit keyBit(k) set for every key k that is reserved here;
	// a key whose bit is set needs checkKey. It is noneReserved in objects and
	// groups, and allReserved where no field may be added: in an array, in the
	// value of a field, and in an idle event.
	reservedBits uint64

	log   *Logger
	level Level
	depth int32 // containers and calls of user code that are open; idle below zero
	flags flags

	tooDeep int32 // by how much the limit of depth is lowered: see enter

	carried []*Logger      // loggers of contexts; their fields are added when the groups end
	user    usercode.Entry // of the user code that runs
	front   front

	fieldsAt, groupsAt    int // where the fields begin in buf; where those of the pending groups do
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
	// What kind of line it is, from its start on; Discard sets muted, too.
	muted      flags = 1 << iota // fields are added, but the line is not written
	building                     // there is no line: the fields are for a logger, a layout or a call site
	isEntry                      // Send writes message
	noLevelKey                   // the line shows no level
	thenPanic                    // what Panic does after its line
	thenExit                     // what Fatal does

	// Where the next field is added; restored when a container ends.
	nested  // in a container
	inArray // the innermost container is an array
	inValue // in the value of a field, which user code returns: no field can be added
	inError // in Layout.Error, which writes the keys of an error

	// What the line has.
	hasTime   // sec and nsec
	timeShown // the time field
	hasCaller
	hasStack
	hasMessage
	movesMessage // it was not known when the line began, and belongs in front of the fields
	hasError     // of Err; format.errorKeys are reserved from then on
	hasErrorKey  // a field that is not of Err has one of format.errorKeys

	inPlace = nested | inArray | inValue | inError
)

const (
	noneReserved = 0
	allReserved  = math.MaxUint64

	idle     = -1      // depth of an event in the pool
	keepSize = 1 << 16 // a buffer above this is not kept for the next line (golang/go#23199)
	startCap = 512
)

// Enabled reports whether the event will be written: it is neither nil nor
// discarded.
func (e *Event) Enabled() bool { return e != nil && e.flags&muted == 0 && e.depth >= 0 }

// Discard keeps the line from being written. Panic and Fatal still act. The
// event must still be finished.
func (e *Event) Discard() *Event {
	if e.isActive() {
		e.flags |= muted
	}
	return e
}

// Lookup finds the top-level field key among what has been added so far, bound
// fields included, and returns its value as raw JSON: a part of the line that
// is valid until the next call on e. Of several fields with one key it finds
// the last.
func (e *Event) Lookup(key string) (json []byte, ok bool) {
	if e == nil || e.depth < 0 {
		return nil, false
	}
	return jsonread.Lookup(e.buf, key)
}
