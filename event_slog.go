// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"log/slog"
	"strings"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// Ctx adds the bound fields of the Logger that ctx carries (see [NewContext]),
// and the fields that [WithContextFields] takes from ctx. If ctx carries a
// Logger, fields that the line already has are left out. Bound fields are added
// at the top level of the line, even if groups are open: With and AppendFields
// omit them then.
func (e *Event) Ctx(ctx context.Context) *Event {
	if ctx == nil || !e.isActive() {
		return e
	}
	bound := false // ctx carries bound fields, which the line has now
	if ctx != context.Background() && e.flags&(nested|inValue) == 0 {
		var carried *Logger
		e.run(func(*Event) { carried, _ = ctx.Value(contract.LoggerKey{}).(*Logger) })
		switch {
		case carried == nil || carried.bound == "":
		case !e.log.groups.any():
			bound = true
			if carried != e.log {
				e.addCarried(carried)
			}
		case carried != e.log && e.flags&building == 0:
			e.carried = append(e.carried, carried) // until the groups end
		}
	}
	if f := e.log.core.contextFields; f != nil {
		from, before, callerEnd := len(e.buf), e.flags, e.callerEnd
		e.run(func(e *Event) { f(ctx, e) })
		// f may have added nib's own fields, too: then buf[from:] is not only fields.
		if bound && len(e.buf) > from && e.flags == before && e.callerEnd == callerEnd {
			keepMissing(e, from)
		}
	}
	return e
}

// keepMissing removes each field of buf[from:] that also precedes it in the
// line, with the same value.
func keepMissing(e *Event, from int) {
	line, added := e.buf[:from], e.buf[from:]
	if from > 0 {
		line[0] = ',' // a brace if the front is reused, and in the end
	}
	if !jsonread.MayShareKey(line, jsonenc.View(added)) {
		return
	}
	e.scratch = append(e.scratch[:0], added...)
	e.buf = line
	for key, value := range jsonread.Missing(line, e.scratch) {
		e.buf = append(jsonenc.AppendKey(e.buf, jsonenc.View(key)), value...)
	}
	e.keepScratch(e.scratch)
}

// addCarried adds the bound fields of l that the line does not have. Usually
// one logger is derived from the other. If the fields of l begin with the
// fields of e's logger, the rest is appended as bytes, unless keys may be equal
// or an error renames some. Otherwise each field of l is looked up in the line.
func (e *Event) addCarried(l *Logger) {
	own, theirs := e.log, l.bound
	if f := own.core.format; l.core.format == f {
		if extends(own.bound, theirs) {
			return
		}
		if l.groups.closing == "" && !own.groups.any() && extends(theirs, own.bound) {
			theirs = theirs[len(own.bound):]
			flags := e.flags | own.boundFlags | l.boundFlags
			added := e.fieldsAt + len(f.static) + len(own.bound)
			if flags&(building|hasError|hasErrorKey) == 0 &&
				!jsonread.MayShareKey(e.buf[added:], theirs) {
				e.buf = append(e.buf, theirs...)
				return
			}
		}
	}
	place := e.flags & inError
	if l.boundFlags&hasError != 0 && !e.hasError() &&
		l.core.format.ErrorKey == own.core.format.ErrorKey {
		e.claimErrorKeys()
		e.flags |= inError // the keys of l's error are not renamed
	}
	e.scratch = append(append(e.scratch[:0], theirs...), l.groups.closing...)
	for key, value := range jsonread.Missing(e.buf, e.scratch) {
		if e.beginField(string(key)) {
			e.buf = append(e.buf, value...)
		}
	}
	e.keepScratch(e.scratch)
	e.flags = e.flags&^inError | place
}

// extends reports whether encoded fields begin with the fields prefix.
func extends(fields, prefix string) bool {
	return strings.HasPrefix(fields, prefix) &&
		(len(fields) == len(prefix) || fields[len(prefix)] == ',')
}

// Attrs adds slog's attributes with slog's semantics: a LogValuer is resolved,
// an empty attribute and an empty group are left out, the attributes of a group
// without a key are added at this level. 0 allocs when they hold plain values.
func (e *Event) Attrs(attrs ...slog.Attr) *Event {
	if e != nil {
		e.attrs(attrs)
	}
	return e
}
