// SPDX-License-Identifier: Apache-2.0

package level

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// A Table has rules that may be replaced while they are in use. It keeps
// nothing of the names that it was asked for.
type Table struct {
	mu    sync.Mutex // protects rules, and is held while set changes
	rules []Rule
	set   atomic.Uint64 // number of calls of Set
}

// A Named is the level of one name, by the current rules of a Table. It is a
// slog.Leveler.
type Named struct {
	table *Table
	name  string
	level atomic.Int64  // by the rules of the call of Set with this number:
	set   atomic.Uint64 // stored after level
}

// Level implements slog.Leveler.
func (n *Named) Level() slog.Level {
	if n.set.Load() != n.table.set.Load() {
		n.update()
	}
	return slog.Level(n.level.Load())
}

// update finds the level by the current rules.
func (n *Named) update() {
	n.table.mu.Lock()
	defer n.table.mu.Unlock()
	n.level.Store(int64(Find(n.table.rules, n.name, 0)))
	n.set.Store(n.table.set.Load())
}

// Set replaces the rules. On an error nothing changes.
func (t *Table) Set(s string) error {
	rules, err := ParseRules(s)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules = rules
	t.set.Add(1)
	return nil
}

// String returns the current rules as ParseRules reads them.
func (t *Table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Format(t.rules)
}

// Of returns the level of a name: info, which is 0, if no rule fits. It returns
// last if it is the level of this name already.
func (t *Table) Of(name string, last slog.Leveler) *Named {
	if n, ok := last.(*Named); ok && n.table == t && n.name == name {
		return n
	}
	n := &Named{table: t, name: name}
	n.update()
	return n
}
