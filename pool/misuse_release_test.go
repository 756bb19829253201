// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package pool_test

import (
	"runtime"
	"testing"

	"github.com/nib-log/nib/pool"
)

func TestSecondPutOfABufferIsIgnored(t *testing.T) {
	var p pool.Buffers
	b := p.Get(100)
	p.Put(b)
	p.Put(b)
	if s := p.Stats(); s.Len != 1 || s.Misused != 1 || s.Puts != 1 {
		t.Errorf("got %+v, want one idle and one misuse", s)
	}
	if first, second := p.Get(100), p.Get(100); first == second {
		t.Error("one buffer was given out twice")
	}
}

func TestForeignBuffersAreIgnored(t *testing.T) {
	var p, other pool.Buffers
	p.Put(&pool.Buffer{})
	p.Put(&pool.Buffer{B: make([]byte, 100)})
	b := other.Get(100)
	p.Put(b)
	if s := p.Stats(); s.Len != 0 || s.Misused != 3 {
		t.Errorf("got %+v, want 3 misuses", s)
	}
	other.Put(b) // it was not harmed
	if s := other.Stats(); s.Len != 1 || s.Misused != 0 {
		t.Errorf("got %+v, want one idle", s)
	}
}

// The handle is recycled when another buffer grows; a holder of the old one
// does not notice.
func TestSecondPutOfABufferThatServedToGrowIsIgnored(t *testing.T) {
	var p pool.Buffers
	stale := p.Get(1000)
	p.Put(stale)
	b := p.Get(10)
	b.Grow(1000) // takes stale, and gives it back with other memory
	p.Put(stale)
	if s := p.Stats(); s.Misused != 1 || s.Len != 1 {
		t.Errorf("got %+v, want one idle and one misuse", s)
	}
}

// Bytes written to a buffer after its Put must not get into memory that has
// another owner by then.
func TestWritesAfterPutGoNowhere(t *testing.T) {
	var p pool.Buffers
	b := p.Get(100)
	p.Put(b)
	b.WriteString("too late")
	b.Grow(100)
	if got := string(b.B); got != "too late" || cap(b.B) < 108 {
		t.Errorf("got %q, capacity %d", got, cap(b.B))
	}
	next := p.Get(100) // the memory of b, which nothing has written to
	for i, c := range next.B[:100] {
		if c != 0 {
			t.Fatalf("byte %d: got %#02x, want 0", i, c)
		}
	}
	if got := p.Stats().Misused; got != 2 {
		t.Errorf("got %d misuses, want 2", got)
	}
	runtime.KeepAlive(b)
}
