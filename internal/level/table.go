// SPDX-License-Identifier: Apache-2.0

package level

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// A Table has the current rules, and the level of every name that was looked
// up. The zero Table has no rules. It is safe for concurrent use.
type Table struct {
	mu     sync.Mutex // protects the fields below
	rules  []Rule
	byName map[string]*Named
}

// A Named is the level of one name, which Set changes. It is a slog.Leveler.
type Named struct{ v atomic.Int64 }

// Level implements slog.Leveler.
func (n *Named) Level() slog.Level { return slog.Level(n.v.Load()) }

// Set replaces the rules. On an error nothing changes.
func (t *Table) Set(s string) error {
	rules, err := ParseRules(s)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules = rules
	for name, n := range t.byName {
		n.v.Store(int64(Find(rules, name, 0)))
	}
	return nil
}

// String returns the current rules as ParseRules reads them.
func (t *Table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Format(t.rules)
}

// Of returns the level of a name: info, which is 0, if no rule fits. It keeps
// one Named for each name.
func (t *Table) Of(name string) *Named {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.byName[name]
	if n == nil {
		n = new(Named)
		n.v.Store(int64(Find(t.rules, name, 0)))
		if t.byName == nil {
			t.byName = map[string]*Named{}
		}
		t.byName[name] = n
	}
	return n
}
