// SPDX-License-Identifier: Apache-2.0

package nib

import "strings"

// The groups of Logger.WithGroup: first those that a bound field is in, which
// are part of Logger.bound, then those after the last bound field. The latter
// are pending: a line without a field in them leaves them out.
type groups struct {
	open         int    // groups that Logger.bound leaves open
	pending      string // `,"a":{"b":`: the pending groups, without the last brace
	pendingCount int
}

func (g *groups) any() bool { return g.open+g.pendingCount > 0 }

// closing is what Logger.bound lacks to be complete.
func (g *groups) closing() string { return strings.Repeat("}", g.open) }

// with returns g and one more group inside, for l, which may get flags of it.
func (g groups) with(l *Logger, name string) groups {
	e := l.builder()
	e.buf = append(e.buf, g.pending...)
	e.beginField(name)
	if g.pendingCount > 0 {
		e.buf[len(g.pending)] = '{'
	}
	g.pending, g.pendingCount, l.boundFlags = string(e.buf), g.pendingCount+1, l.boundFlags|e.flags&hasErrorKey
	e.release()
	return g
}

// bound returns g after fields have been bound in the innermost group: no group
// is pending any more.
func (g groups) bound(fields []byte) groups {
	if g.pendingCount > 0 {
		fields[0] = '{'
	}
	return groups{open: g.open + g.pendingCount}
}

// rename renames the outermost group if its key is reserved. A 0 stands in for
// the object of the innermost one.
func (g *groups) rename(reserved *keySet) {
	if g.open == 0 && g.pendingCount > 0 {
		g.pending = reserved.rename(g.pending, "0"+strings.Repeat("}", g.pendingCount-1))
	}
}

// addBound adds the constant and the bound fields, and the pending groups.
func (e *Event) addBound() {
	l := e.log
	e.fieldsAt = len(e.buf)
	if f := l.core.format; f.static != "" || l.bound != "" {
		e.buf = append(append(e.buf, f.static...), l.bound...)
	}
	if l.groups.pendingCount > 0 {
		e.buf = append(e.buf, l.groups.pending...)
		e.groupsAt = len(e.buf)
	}
}

// closeGroups closes the groups when their last field has been added, and
// removes those without fields.
func (e *Event) closeGroups() {
	l := e.log
	open := l.groups.open
	if l.groups.pendingCount > 0 {
		if len(e.buf) == e.groupsAt {
			e.front = front{} // which the groups may be in
			e.buf = e.buf[:e.groupsAt-len(l.groups.pending)]
		} else {
			e.buf[e.groupsAt] = '{'
			open += l.groups.pendingCount
		}
	}
	for range open {
		e.buf = append(e.buf, '}')
	}
	e.reservedBits = l.core.format.reservedBits // the end of the line is at the top level
}
