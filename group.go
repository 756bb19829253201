// SPDX-License-Identifier: Apache-2.0

package nib

// The groups of Logger.WithGroup: first the groups that a bound field is in,
// which are part of Logger.bound, then the pending groups after the last bound
// field. A line without a field in pending groups leaves them out.
type groups struct {
	closing        string // the braces that close the groups of Logger.bound
	pending        string // `,"a":{"b":`: the pending groups, without the last brace
	pendingClosing string // the braces that close these
}

func (g *groups) any() bool { return g.closing != "" || g.pending != "" }

// add adds a pending group inside g, which are the groups of the new Logger l.
func (g *groups) add(l *Logger, name string) {
	e := l.builder()
	e.buf = append(e.buf, g.pending...)
	e.beginField(name)
	if g.pending != "" {
		e.buf[len(g.pending)] = '{' // overwrites the comma of name
	}
	g.pending, g.pendingClosing = string(e.buf), g.pendingClosing+"}"
	l.boundFlags |= e.flags & hasErrorKey
	e.release()
}

// bound returns g after fields have been bound in the innermost group: no group
// is pending then. The brace that pending lacks replaces the first comma.
func (g groups) bound(fields []byte) groups {
	if g.pending != "" {
		fields[0] = '{'
	}
	return groups{closing: g.closing + g.pendingClosing}
}

// rename renames the outermost group if its key is reserved and the group is
// pending; an open one is part of Logger.bound. pending is not a whole field:
// "0" and braces complete it, so that it can be parsed.
func (g *groups) rename(reserved *keySet) {
	if g.closing == "" && g.pending != "" {
		g.pending = reserved.rename(g.pending, "0"+g.pendingClosing[1:])
	}
}

// addBound adds the constant and the bound fields, and the pending groups.
func (e *Event) addBound() {
	l := e.log
	e.fieldsAt = len(e.buf)
	if f := l.core.format; f.static != "" || l.bound != "" {
		e.buf = append(append(e.buf, f.static...), l.bound...)
	}
	if l.groups.pending != "" {
		e.buf = append(e.buf, l.groups.pending...)
		e.groupsAt = len(e.buf)
	}
}

// closeGroups closes the groups when their last field has been added, and
// removes those without fields.
func (e *Event) closeGroups() {
	l := e.log
	open := len(l.groups.closing)
	if l.groups.pending != "" {
		if len(e.buf) == e.groupsAt {
			e.front = front{} // the front may end inside the groups
			e.buf = e.buf[:e.groupsAt-len(l.groups.pending)]
		} else {
			e.buf[e.groupsAt] = '{' // overwrites the comma of the first field
			e.buf = append(e.buf, l.groups.pendingClosing...)
			open += len(l.groups.pendingClosing)
		}
	}
	e.buf = append(e.buf, l.groups.closing...)
	if open > 0 && l.core.edits.duplicates != nil {
		e.front = front{} // it may end inside the groups
		x := &l.core.edits
		x.groups(x, e, 0, 0, open)
	}
	e.reservedBits = l.core.format.reservedBits // the end of the line is at the top level
}
