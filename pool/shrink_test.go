// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/pool"
)

// eventually runs collections until a condition holds, and reports whether it
// did. Cleanups run some time after a collection, when their goroutine gets a
// processor.
func eventually(holds func() bool) bool {
	for late := time.Now().Add(2 * time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(late) {
			return false
		}
		runtime.GC()
	}
	return true
}

func TestGCShrinkDropsIdleValues(t *testing.T) {
	p := pool.New(func() int { return -1 }, pool.WithGCShrink())
	for depth := range 20 {
		atDepth(depth, func() { fill(p, 0, 500) })
	}
	if !eventually(func() bool { return p.Stats().Len == 0 }) {
		t.Errorf("got %+v after many collections, want none idle", p.Stats())
	}
	if s := p.Stats(); s.Trimmed != 10_000 || s.Dropped != 0 || p.Fault() != "" {
		t.Errorf("got %+v %s, want 10000 trimmed", s, p.Fault())
	}
	if got := p.Get(); got != -1 {
		t.Errorf("got %d, want a new value", got)
	}
}

// Shrink is called here, not by the collector, which does it some time after a
// collection: a use between two collections may come before both.
func TestShrinkKeepsWhatIsUsed(t *testing.T) {
	p := newCounted()
	fill(p.Pool, 0, 10_000)
	for range 20 {
		p.Put(p.Get())
		p.Shrink()
	}
	if s := p.Stats(); p.made.Load() != 0 || s.Len == 0 || s.Len > 512 || p.Fault() != "" {
		t.Errorf("got %d new values, %+v %s, want 512 idle or less and none new", p.made.Load(), s, p.Fault())
	}
}

// The steps of shrinking, without the collector, which runs at any time.
func TestShrinkDropsValuesNotUsedSinceTheLastCall(t *testing.T) {
	p := newCounted()
	fill(p.Pool, 0, 3000)
	for range 2 { // the first call sees everything for the first time
		p.Shrink()
		if got := p.Stats().Len; got != 3000 && got != 0 {
			t.Errorf("got %d, want all or none", got)
		}
	}
	if got := p.Stats(); got.Len != 0 || got.Trimmed != 3000 {
		t.Errorf("untouched: got %+v, want none idle", got)
	}
	fill(p.Pool, 0, 3000)
	p.Shrink()
	for range 1000 {
		p.Get()
	}
	fill(p.Pool, 5000, 6000)
	p.Shrink()
	if got := p.Stats().Len; got < 1000 || got > 1000+3*256 {
		t.Errorf("1000 of 3000 used: got %d idle, want those and a few", got)
	}
	if fault := p.Fault(); fault != "" {
		t.Error(fault)
	}
}

func TestWithoutGCShrinkNothingGoes(t *testing.T) {
	var p pool.Pool[int]
	fill(&p, 0, 3000)
	for range 10 {
		runtime.GC()
	}
	if got := p.Stats(); got.Len != 3000 || got.Trimmed != 0 {
		t.Errorf("got %+v, want 3000 idle", got)
	}
}

func TestShrinkingPoolIsCollected(t *testing.T) {
	p := pool.New[int](nil, pool.WithGCShrink())
	fill(p, 0, 100)
	for range 3 {
		runtime.GC()
	}
	done := whenCollected(p) // the last use of p
	if !collected(done) {
		t.Error("a pool that is not used is still alive")
	}
}

// The runtime's own goroutines call the cleanups; none of them is the pool's.
func TestShrinkingLeavesNoGoroutine(t *testing.T) {
	pools := make([]*pool.Pool[int], 100)
	for i := range pools {
		pools[i] = pool.New[int](nil, pool.WithGCShrink(), pool.WithPrealloc(5))
	}
	none := func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, s := range strings.Split(string(stacks), "\n\n")[1:] { // without this one
			if strings.Contains(s, "nib/pool.") {
				return false
			}
		}
		return true
	}
	if !eventually(none) {
		t.Error("a goroutine of the pool is running")
	}
	runtime.KeepAlive(pools)
}
