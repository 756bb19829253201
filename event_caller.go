// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
)

// acceptsOwnField reports whether one of nib's own fields may be added to e:
// once only (the flag unless records it), outside of containers, and not in a
// builder, which stores no positions.
func (e *Event) acceptsOwnField(unless flags) bool {
	return e.isActive() && e.flags&(unless|nested|inValue|building) == 0
}

// leaveGroups moves an own field, buf[from:], to the top level of the line: in
// front of the fields, if groups are open.
func (e *Event) leaveGroups(from int) {
	if !e.log.groups.any() || e.reservedBits != noneReserved { // the groups are closed
		return
	}
	at := e.fieldsAt
	if at < e.front.end { // the first byte of a front is the brace of the last line
		e.front, e.buf[0] = front{}, ','
	}
	size := e.moveToFields(from)
	e.fieldsAt, e.groupsAt = at+size, e.groupsAt+size
	if e.callerAt == from {
		e.callerAt, e.callerEnd = at, at+size
	}
}

// Timestamp adds the time to a line that has none: that of an [Entry] with the
// zero Time. It belongs to the line, as do the fields of Caller,
// CallerSkipFrame and Stack: these methods do nothing inside of a container, or
// if the layout leaves the field out, and if groups of [Logger.WithGroup] are
// open, they add the field in front of the fields, at the top level.
func (e *Event) Timestamp() *Event {
	if !e.acceptsOwnField(timeShown) || e.log.core.format.timeKey == "" {
		return e
	}
	e.flags |= timeShown
	f := e.log.core.format
	sec, nsec := e.time()
	from := len(e.buf)
	e.buf = append(e.buf, f.timeKey...)
	e.buf = f.time.AppendCached(e.buf, &e.second, sec, int(nsec), f.zone(time.Local))
	e.leaveGroups(from)
	return e
}

// A cachedText is an encoded level, a line of a stack, or a caller field.
type cachedText struct {
	text string
	site uintptr // the program counter of a caller field, unless methods of nib are inlined there
	none bool    // the program counter determines no call site: see encodeCaller
}

// ownPrefix begins the names of this package's functions.
const ownPrefix = "github.com/nib-log/nib."

// Caller adds the call site if the logger does not.
func (e *Event) Caller() *Event {
	if e.acceptsOwnField(hasCaller) {
		e.addCaller(callsite.PC(0)[0])
		e.leaveGroups(e.callerAt)
	}
	return e
}

// CallerSkipFrame adds the call site n frames further up than Caller would, for
// functions that log on behalf of their callers. It replaces the one added by
// [WithCaller].
func (e *Event) CallerSkipFrame(n int) *Event {
	if !e.acceptsOwnField(0) {
		return e
	}
	pc := callsite.PC(n)[0]
	if e.flags&hasCaller == 0 || e.callerAt == e.callerEnd { // Layout.Caller may write nothing
		e.addCaller(pc)
		e.leaveGroups(e.callerAt)
		return e
	}
	t := e.outside(pc)
	e.pc = t.site
	e.splice(e.callerAt, e.callerEnd, t.text)
	return e
}

// addCaller appends the caller field for pc, the return address of a method of
// nib, which is usually in the code that logs.
func (e *Event) addCaller(pc uintptr) {
	t := e.outside(pc)
	e.pc = t.site
	e.flags |= hasCaller
	e.callerAt = len(e.buf)
	e.buf = append(e.buf, t.text...)
	e.callerEnd = len(e.buf)
}

// outside returns the field of a call site outside of nib. If pc determines
// none, each line looks for its call site on the stack.
func (e *Event) outside(pc uintptr) *cachedText {
	t := e.caller(pc)
	if t.none {
		t = e.caller(callsite.Outside(ownPrefix))
	}
	return t
}

// caller returns the field of a call site, encoded once and kept.
func (e *Event) caller(pc uintptr) *cachedText {
	f := e.log.core.format
	if t := f.callers.Get(pc); t != nil {
		return t
	}
	var t *cachedText
	orLost(e.abort, func() { t = f.callers.Put(pc, f.encodeCaller(pc)) })
	return t
}

// encodeCaller encodes the field of pc. If methods of nib were inlined there,
// pc has the frames of all of them, and the first frame outside of nib is the
// caller. A pc within a function of nib, or within a wrapper that the compiler
// makes of a method, serves many callers and determines none.
func (f *format) encodeCaller(pc uintptr) cachedText {
	t, frame := cachedText{site: pc}, callsite.Frame(pc)
	if pc == 0 || callsite.IsShared(pc, ownPrefix) {
		return cachedText{none: true}
	}
	if strings.HasPrefix(frame.Function, ownPrefix) {
		t.site = callsite.Outside(ownPrefix)
		frame = callsite.Frame(t.site)
	}
	switch key := f.CallerKey; {
	case key == OmitKey: // the Record has the call site
	case f.Caller != nil:
		t.text = f.site.build(0, func(e *Event) { f.Caller(e, key, frame) })
	default:
		text := callsite.ShortFile(frame.File) + ":" + strconv.Itoa(frame.Line)
		t.text = string(jsonenc.AppendString(jsonenc.AppendKey(nil, key), text))
	}
	return t
}

// maxStack is the number of frames that Stack shows.
const maxStack = 64

// Stack adds the stack of the calling goroutine as one text: function, file and
// line of each frame, the innermost first, as Go's own traces have it. At most
// 64 frames are shown. While a panic is recovered from, the first is that of
// the function that panicked.
func (e *Event) Stack() *Event {
	if !e.acceptsOwnField(hasStack) {
		return e
	}
	if e.pcs == nil {
		e.pcs = make([]uintptr, maxStack)
	}
	e.addStack(e.pcs[:runtime.Callers(1, e.pcs)])
	return e
}

// addStack adds frames, from the first one outside of nib and the runtime.
func (e *Event) addStack(pcs []uintptr) {
	f, from := e.log.core.format, len(e.buf)
	if f.StackKey == OmitKey {
		return
	}
	e.flags |= hasStack
	e.buf = append(jsonenc.AppendKey(e.buf, f.StackKey), '"')
	outside := false
	for _, pc := range pcs {
		t := f.frames.Get(pc)
		if t == nil {
			t = f.frames.Put(pc, cachedText{text: encodeFrame(pc)})
		}
		if outside = outside || t.text != "" && !strings.HasPrefix(t.text, "runtime."); outside {
			e.buf = append(e.buf, t.text...)
		}
	}
	e.buf = append(e.buf, '"')
	e.leaveGroups(from)
}

// isOwn reports whether a function is a method of this package, or one of those
// that run when the handler of a request or a job has panicked.
func isOwn(function string) bool {
	own, ok := strings.CutPrefix(function, "github.com/nib-log/nib")
	return ok && own != "" && (own[0] == '.' || strings.HasPrefix(own, "/nibhttp.(*exchange).") ||
		strings.HasPrefix(own, "/bridge/nibgrpc.(*call).") || strings.HasPrefix(own, "/request.(*run)."))
}

// encodeFrame returns one frame as JSON text without quotes; frames of nib's
// own methods are empty.
func encodeFrame(pc uintptr) string {
	frame := callsite.Frame(pc)
	if isOwn(frame.Function) {
		return ""
	}
	s := jsonenc.AppendString(nil, frame.Function+"\n\t"+frame.File+":"+strconv.Itoa(frame.Line)+"\n")
	return string(s[1 : len(s)-1])
}
