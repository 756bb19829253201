// SPDX-License-Identifier: Apache-2.0

package nib

import "strings"

// The groups of Logger.WithGroup: first the groups that a bound field is in,
// which are part of Logger.bound, then the pending groups after the last bound
// field. A line without a field in pending groups leaves them out.
type groups struct {
	open         int    // groups that Logger.bound leaves open
	pending      string // `,"a":{"b":`: the pending groups, without the last brace
	pendingCount int
}

func (g *groups) any() bool { return g.open+g.pendingCount > 0 }

// closing has the braces that close the groups of Logger.bound.
func (g *groups) closing() string { return strings.Repeat("}", g.open) }

// with returns g and one more group inside. It may set boundFlags of l.
func (g groups) with(l *Logger, name string) groups {
	e := l.builder()
	e.buf = append(e.buf, g.pending...)
	e.beginField(name)
	if g.pendingCount > 0 {
		e.buf[len(g.pending)] = '{' // overwrites the comma of name
	}
	g.pending, g.pendingCount, l.boundFlags = string(e.buf), g.pendingCount+1, l.boundFlags|e.flags&hasErrorKey
	e.release()
	return g
}

// bound returns g after fields have been bound in the innermost group: no group
// is pending then. The brace that pending lacks replaces the first comma.
func (g groups) bound(fields []byte) groups {
	if g.pendingCount > 0 {
		fields[0] = '{'
	}
	return groups{open: g.open + g.pendingCount}
}

// rename renames the outermost group if its key is reserved and the group is
// pending; an open one is part of Logger.bound. pending is not a whole field:
// "0" and braces complete it, so that it can be parsed.
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
			e.front = front{} // the front may end inside the groups
			e.buf = e.buf[:e.groupsAt-len(l.groups.pending)]
		} else {
			e.buf[e.groupsAt] = '{' // overwrites the comma of the first field
			open += l.groups.pendingCount
		}
	}
	for range open {
		e.buf = append(e.buf, '}')
	}
	if open > 0 && l.core.edits.duplicates != nil {
		e.front = front{} // it may end inside the groups
		l.core.edits.editGroups(e, 0, 0, open)
	}
	e.reservedBits = l.core.format.reservedBits // the end of the line is at the top level
}
