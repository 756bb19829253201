// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package pool

import "testing"

// search makes n Gets find their value in another shard, and as many find it in
// their own as rest says. It ends when n Gets have searched.
func search(t *testing.T, p *Pool[int], n, rest int) {
	t.Helper()
	table := p.table.Load()
	for range n {
		searches := p.depot.searches
		for p.depot.searches == searches && !p.depot.byStack {
			p.keep(table, table.place()+1, 1)
			if p.Get() != 1 {
				t.Fatal("a value was not found")
			}
			if p.depot.searches == 0 { // the last one of enough
				break
			}
		}
		for range rest {
			p.Put(2)
			p.Get()
		}
	}
}

func (p *Pool[T]) ofProcessors() bool { return p.table.Load().salt&byProcessor != 0 }

func TestPlacesAreThoseOfProcessorsIfGetsSearch(t *testing.T) {
	if !hasProcessor() {
		t.Skip("the processor has no RDPID")
	}
	p := New(func() int { return -1 })
	p.begin()
	if search(t, p, 300, 10); p.ofProcessors() {
		t.Error("one Get in eleven searched: got places of processors, want places of stacks")
	}
	if search(t, p, 300, 0); !p.ofProcessors() {
		t.Error("each Get searched: got places of stacks, want places of processors")
	}
	if search(t, p, 300, 0); p.ofProcessors() {
		t.Error("each Get searched nevertheless: got places of processors, want places of stacks")
	}
	if search(t, p, 300, 0); p.ofProcessors() {
		t.Error("got places of processors again")
	}
	if p.Fault() != "" {
		t.Error(p.Fault())
	}
}

// A number that is wrong, as where a system does not store it, is always the
// same, so that all goroutines meet.
func TestPlacesAreThoseOfStacksIfShardsAreShort(t *testing.T) {
	p := New(func() int { return -1 })
	table := p.begin()
	table.salt = byProcessor
	for range 64 {
		table.meet()
	}
	if p.ofProcessors() {
		t.Error("got places of processors, want places of stacks")
	}
}
