// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/pool"
)

// A round of each contestant of each scenario, checked. The timed rounds are in
// cmd/nibbench.
func TestEveryContestantDoesTheWorkOfTheScenario(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			ops := s.Ops
			if ops == 0 || ops == million && testing.Short() {
				ops = 2000
			}
			for _, c := range s.Contestants {
				made := &Made{}
				run := s.Start(&c, made)
				contestant := measure.Contestant{Do: run.Do, Prepare: run.Prepare}
				measure.Alternate([]measure.Contestant{contestant}, measure.Config{Rounds: 2, Ops: ops})
				if run.Check != nil {
					if err := run.Check(); err != nil {
						t.Errorf("%s: %v", c.Name, err)
					}
				}
				if run.Lost != nil {
					if lost := run.Lost(ops); lost < 0 || lost > ops || lost > 0 && strings.HasPrefix(c.Name, Nib) {
						t.Errorf("%s: %d of %d values lost", c.Name, lost, ops)
					}
				}
				run.Close()
			}
		})
	}
}

func TestScenariosAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		if seen[s.Name] || s.Title == "" || strings.ContainsAny(s.Name, " /") {
			t.Errorf("scenario %q: twice, no title, or not a name", s.Name)
		}
		seen[s.Name] = true
		names := map[string]bool{}
		for _, c := range s.Contestants {
			if names[c.Name] || strings.Contains(c.Name, " ") {
				t.Errorf("%s: contestant %q twice, or not a name", s.Name, c.Name)
			}
			names[c.Name] = true
		}
		if !names[Nib] || !names[s.Versus] {
			t.Errorf("%s: no %s or no %q to compare it with", s.Name, Nib, s.Versus)
		}
	}
}

// The pools that are written here for comparison must work, too.
func TestPoolsForComparison(t *testing.T) {
	made := 0
	create := func() int { made--; return made }
	limited := newGuarded(create)
	limited.limit = 2
	for _, p := range []struct {
		name string
		get  func() int
		put  func(int)
		want [4]int
	}{
		{Mutex, newGuarded(create).Get, nil, [4]int{-1, -2, -3, -4}},
		{"limited " + Mutex, limited.Get, limited.Put, [4]int{2, 1, -1, -2}},
	} {
		made = 0
		for i := range 3 {
			if p.put != nil {
				p.put(i + 1)
			}
		}
		for i, want := range p.want {
			if got := p.get(); got != want {
				t.Errorf("%s, Get %d: got %d, want %d", p.name, i, got, want)
			}
		}
	}
}

func TestChecksRefuse(t *testing.T) {
	for _, s := range []pool.Stats{
		{Gets: 2, Hits: 1, Puts: 2},         // one value put is lost
		{Gets: 2, Hits: 2, Puts: 2, Len: 1}, // one came out that was never put
		{Gets: 2, Puts: 2, Dropped: 2},      // two misses, but one value made
	} {
		made := &Made{}
		made.bytes()
		if err := balance(func() pool.Stats { return s }, made)(); err == nil {
			t.Errorf("%+v with one value made passes", s)
		}
	}
	if err := asLong(1, 0, 1); err == nil {
		t.Error("a list that has grown passes")
	}
	if err := healthy(pool.BuffersStats{Misused: 1}); err == nil {
		t.Error("misused buffers pass")
	}
	if err := exactly(idleLimit+1, idleLimit); err == nil {
		t.Error("a pool above its limit passes")
	}
	if err := exactly(idleLimit-1, idleLimit); err == nil {
		t.Error("a pool that has lost a value passes")
	}
}
