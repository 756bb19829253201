// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"strings"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// edits are the changes that a logger makes to a finished line. A function is
// nil without its option: a program without the option does not contain what it
// calls.
type edits struct {
	duplicates edit
	groups     func(x *edits, e *Event, from, depth, count int) // editGroups, with duplicates
	redact     edit                                             // made from keys
	masks      func(x *edits, f *format) bool                   // masksFront, with redact
	keys       []string
	max        int
	skipsFront bool // no edit changes time and level, whatever follows them
}

// An edit appends a line of e to dst, changed, or nothing if it has no change.
type edit func(e *Event, dst, line []byte) []byte

func (x *edits) any() bool { return x.duplicates != nil || x.redact != nil || x.max > 0 }

// leavesFront reports whether no edit changes the time and the level of a line
// of f, or has to know their keys. No field has the key of either, but one may
// get it by a number behind its key, or by the character that replaces invalid
// UTF-8, and the number of bytes that Shorten has left out may have it.
func (x *edits) leavesFront(f *format) bool {
	keys := f.timeKey + f.levelKey
	for _, part := range []string{"#", "\ufffd", `,"truncated":`} {
		if strings.Contains(keys, part) {
			return false
		}
	}
	return x.masks == nil || !x.masks(x, f)
}

// masksFront reports whether the time or the level of a line of f is masked.
func (x *edits) masksFront(f *format) bool {
	var second jsonenc.SecondCache
	for _, level := range f.levels {
		line := []byte(f.timeKey)
		if f.timeKey != "" {
			line = f.time.AppendCached(line, &second, 0, 0, time.UTC)
		}
		if line = append(line, level...); len(x.redact(nil, nil, line)) > 0 {
			return true
		}
	}
	return false
}

// writeEdited edits the finished line and writes it. The next line can reuse
// the front of this one if its bytes before the edit are still there.
func (e *Event) writeEdited() {
	changes := e.log.core.edits.apply(e)
	if changes > 0 && e.flags&hasMessage != 0 && e.log.core.out.makesRecords() {
		e.findMessage()
	}
	e.log.core.write(e)
	switch changes {
	case 0:
	case 1:
		e.buf, e.scratch = e.scratch, e.buf
	default:
		e.front = front{}
	}
	e.keepScratch(e.scratch)
	if e.edited != nil && e.edited.Size() > keepSize {
		e.edited = nil
	}
}

// apply edits the finished line and returns the number of changes; each edit
// writes from one of the event's two buffers into the other.
func (x *edits) apply(e *Event) (changes int) {
	from := e.front.fixed
	if x.redact != nil {
		changes += e.replace(from, x.redact)
	}
	if x.duplicates != nil {
		changes += e.replace(from, x.duplicates)
	}
	if max := maxLineOf(e); max > 0 && len(e.buf) > max {
		changes += e.replace(from, shorten)
	}
	return changes
}

// maxLineOf returns the maximum length of the line of e, 0 if there is none.
func maxLineOf(e *Event) int {
	c := e.log.core
	if e.flags&tooLarge != 0 && c.edits.max <= 0 {
		return c.sizeLimit
	}
	return c.edits.max
}

// shorten is the edit of a line that is too long. The bytes in dst are part of
// the line.
func shorten(e *Event, dst, line []byte) []byte {
	max := maxLineOf(e) - len(dst)
	return jsonread.Shorten(dst, line, max, e.log.core.format.class, editSpace(e))
}

// editSpace returns the scratch space of an event for edits.
func editSpace(e *Event) *jsonread.Scratch {
	if e.edited == nil {
		e.edited = new(jsonread.Scratch)
	}
	return e.edited
}

// editGroups applies the policy for duplicate keys to the groups that have just
// been closed, count in number, from the innermost one. Group number depth is
// the last field of the object around it, which is e.buf[from:], and depth
// braces follow it. Secrets are masked first: the policy may rename their keys.
func (x *edits) editGroups(e *Event, from, depth, count int) {
	var group []byte
	for _, v := range jsonread.Fields(e.buf[from:]) {
		group = v
	}
	from = len(e.buf) - depth - len(group)
	if depth == 0 && x.redact != nil {
		x.replaceFrom(e, from, x.redact(e, e.scratch[:0], e.buf[from:]))
	}
	if depth+1 < count {
		x.editGroups(e, from, depth+1, count)
	}
	x.replaceFrom(e, from, x.duplicates(e, e.scratch[:0], e.buf[from:]))
}

// replaceFrom replaces e.buf[from:] with what was written into scratch, unless
// that is nothing.
func (*edits) replaceFrom(e *Event, from int, edited []byte) {
	if e.scratch = edited; len(edited) > 0 {
		e.buf = append(e.buf[:from], edited...)
	}
}

// replace makes one edit of the line behind its first bytes: a copy of them,
// and what by appends, becomes the line, unless by appends nothing. It returns
// the number of changes. Three copies of it would be longer than apply.
//
//go:noinline
func (e *Event) replace(from int, by edit) (changes int) {
	line := by(e, append(e.scratch[:0], e.buf[:from]...), e.buf[from:])
	if len(line) == from {
		e.scratch = line
		return 0
	}
	e.buf, e.scratch = line, e.buf
	return 1
}

// findMessage finds the message in the edited line, if it is still there.
func (e *Event) findMessage() {
	from, end, ok := jsonread.Locate(e.buf, e.log.core.format.MessageKey)
	if !ok {
		e.flags &^= hasMessage
		return
	}
	e.messageAt, e.messageEnd = from+1, end-1
}

// class returns the truncation priority of a top-level field.
func (f *format) class(key string) jsonread.Class {
	switch {
	case !f.reserved.has(key): // all of nib's own fields are in this set
	case key == f.MessageKey:
		return jsonread.Late
	case key == f.TimeKey, key == f.LevelKey, key == f.LoggerKey, f.siteKeys.has(key):
		return jsonread.Never
	}
	return jsonread.Free
}

// moveMessage moves the message field in front of the fields, if the layout has
// it there and it was not known when the line began.
func (e *Event) moveMessage() {
	f := e.log.core.format
	if e.flags&(hasMessage|movesMessage) != hasMessage|movesMessage {
		return
	}
	from := e.messageAt - 1 - len(f.messageKey)
	fields := from - e.fieldsAt
	e.moveToFields(from)
	e.messageAt, e.messageEnd = e.messageAt-fields, e.messageEnd-fields
}

// moveToFields moves buf[from:] in front of the fields, and returns its size.
// The caller adjusts the offsets.
func (e *Event) moveToFields(from int) (size int) {
	at, end := e.fieldsAt, len(e.buf)
	e.buf = append(e.buf, e.buf[at:from]...)
	copy(e.buf[at:], e.buf[from:])
	e.buf = e.buf[:end]
	return end - from
}

// claimErrorKeys reserves the keys of an error that is about to be added. They
// are reserved only in lines with an error, because "error" is a common key of
// other fields. The flag hasErrorKey records that a field has such a key; these
// fields are renamed now.
func (e *Event) claimErrorKeys() {
	if e.reservedBits == noneReserved {
		return
	}
	if had := e.flags | e.log.boundFlags; had&(hasError|hasErrorKey) == hasErrorKey {
		for _, k := range e.log.core.format.errorKeys.keys {
			key := k[len(reservedPrefix):]
			for {
				value, _, ok := jsonread.Locate(e.buf, key)
				if !ok {
					break
				}
				at := value - len(jsonenc.AppendKey(nil, key)) + len(`,"`)
				e.splice(at, at, reservedPrefix)
			}
		}
	}
	e.flags |= hasError
}

// splice replaces buf[from:end] with text and shifts the offsets after it. An
// offset equal to end is shifted, too: a field begins there. The offsets of a
// front do not belong to the buffer of AppendFields.
func (e *Event) splice(from, end int, text string) {
	if from < e.front.end || e.flags&building != 0 {
		e.front = front{}
	}
	shift := len(text) - (end - from)
	e.buf = jsonenc.Splice(e.buf, from, end, text)
	for _, at := range []*int{
		&e.fieldsAt, &e.groupsAt, &e.callerAt, &e.callerEnd, &e.messageAt, &e.messageEnd,
	} {
		if *at >= end {
			*at += shift
		}
	}
}
