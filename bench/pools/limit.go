// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"errors"
	"fmt"

	"github.com/nib-log/nib/pool"
)

// idleLimit is the number of values that the pools of these contests may keep.
const idleLimit = 1000

// limits returns the contests of pools with a limit, which neither sync.Pool
// nor zeropool has: with few values, with as many as it allows, and beyond.
func limits() []Scenario {
	cases := []struct {
		name, title string
		idle        int // values in the pool before
		excess      bool
	}{
		{"LimitBelow", "Get and Put, one value idle", 1, false},
		{"LimitAt", "Get and Put, as many idle as allowed", idleLimit, false},
		{"LimitAbove", "Put that the limit refuses", idleLimit, true},
	}
	var all []Scenario
	for _, c := range cases {
		all = append(all, Scenario{Name: c.name, Context: "limit", Title: c.title, Versus: Mutex, Contestants: limited(c.idle, c.excess)})
	}
	for _, c := range cases {
		all = append(all, Scenario{Name: c.name + "Parallel", Context: "limit, in parallel", Title: c.title, Versus: Mutex, Goroutines: cpus(),
			Contestants: limited(c.idle, c.excess)})
	}
	return all
}

func limited(idle int, excess bool) []Contestant {
	all := []Contestant{
		{Nib, func(made *Made) Run {
			p := pool.New(made.bytes, pool.WithLimit(idleLimit), pool.WithPrealloc(idle))
			account := balance(p.Stats, made)
			return Run{Do: limitedNib(p, excess), Check: func() error {
				return errors.Join(account(), exactly(p.Stats().Len, idle))
			}}
		}},
		{Mutex, func(made *Made) Run {
			p := newGuarded(made.bytes)
			p.limit = idleLimit
			for range idle {
				p.Put(made.bytes())
			}
			return Run{Do: limitedMutex(p, excess), Check: func() error { return exactly(len(p.stack.items), idle) }}
		}},
		{Channel, func(made *Made) Run {
			p := &channel[[]byte]{create: made.bytes, items: make(chan []byte, idleLimit)}
			for range idle {
				p.Put(made.bytes())
			}
			return Run{Do: limitedChannel(p, excess), Check: func() error { return exactly(len(p.items), idle) }}
		}},
	}
	if !excess {
		all = append(all, Contestant{NibUnlimited, func(made *Made) Run {
			p := pool.New(made.bytes, pool.WithPrealloc(idle))
			return Run{Do: limitedNib(p, false), Check: balance(p.Stats, made)}
		}})
	}
	return all
}

func limitedNib(p *pool.Pool[[]byte], excess bool) func(n int) {
	b := make([]byte, 8)
	return func(n int) {
		if !excess {
			for range n {
				p.Put(p.Get())
			}
			return
		}
		for range n {
			p.Put(b)
		}
	}
}

func limitedMutex(p *guarded[[]byte], excess bool) func(n int) {
	b := make([]byte, 8)
	return func(n int) {
		if !excess {
			for range n {
				p.Put(p.Get())
			}
			return
		}
		for range n {
			p.Put(b)
		}
	}
}

func limitedChannel(p *channel[[]byte], excess bool) func(n int) {
	b := make([]byte, 8)
	return func(n int) {
		if !excess {
			for range n {
				p.Put(p.Get())
			}
			return
		}
		for range n {
			p.Put(b)
		}
	}
}

// exactly checks the number of values that a pool keeps. With several
// goroutines, a Get may find the pool empty and make another value, so if few
// values are idle, there may be one for each goroutine.
func exactly(got, idle int) error {
	if got > idleLimit || got < idle || got > idle+cpus() {
		return fmt.Errorf("%d values idle, want %d", got, idle)
	}
	return nil
}
