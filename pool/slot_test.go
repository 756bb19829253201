// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/pool"
)

// A Get finds the only buffer, whichever places Put and Get are called at, and
// whether or not another buffer has a reserved slot there.
func TestGetFindsTheOnlyBufferFromAnyPlace(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{})
	for from := range 40 {
		for to := range 40 {
			var b *pool.Buffer
			atDepth(to, func() { b = p.Get(100) })
			if from%3 == 0 {
				b.Grow(5000) // a slot belongs to the memory, not to the handle
			}
			atDepth(from, func() { p.Put(b) })
		}
	}
	if s := p.Stats(); s.Gets-s.Hits > 2 || p.Fault() != "" {
		t.Errorf("got %+v %s, want no more than 2 new buffers", s, p.Fault())
	}
	if n := p.Reserved(); n > 0 {
		t.Errorf("got %d reserved slots, want none", n)
	}
}

// Goroutines pass a token on through buffers. Each Put happens before the next
// Get, so no Get may miss the buffer.
func TestGetFindsTheBufferOfAnotherGoroutine(t *testing.T) {
	for _, n := range []int{1, 2, 16} {
		procs(t, n)
		const goroutines, rounds = 16, 100
		p := pool.NewBuffers(pool.BuffersConfig{})
		turns := make([]chan struct{}, goroutines+1)
		for i := range turns {
			turns[i] = make(chan struct{}, 1)
		}
		var wg sync.WaitGroup
		for i := range goroutines {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range rounds {
					<-turns[i]
					p.Put(p.Get(64))
					turns[(i+1)%goroutines] <- struct{}{}
				}
			}()
		}
		turns[0] <- struct{}{}
		wg.Wait()
		if s := p.Stats(); s.Hits != goroutines*rounds-1 || s.Len != 1 || p.Fault() != "" {
			t.Errorf("GOMAXPROCS %d: got %+v %s, want one new buffer", n, s, p.Fault())
		}
	}
}

// A buffer that is taken and forgotten is collected, and its place still works.
func TestForgottenBuffersAreCollected(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{})
	forget := func() weak.Pointer[pool.Buffer] {
		p.Put(p.Get(64))
		return weak.Make(p.Get(64)) // from where it was put
	}
	forgotten := make(chan weak.Pointer[pool.Buffer])
	go func() { forgotten <- forget() }()
	w := <-forgotten
	runtime.GC()
	runtime.GC()
	if w.Value() != nil {
		t.Error("a buffer is kept alive that was taken and forgotten")
	}
	for range 100 {
		p.Put(p.Get(64))
	}
	if s := p.Stats(); s.Gets-s.Hits != 2 || s.Len != 1 || p.Fault() != "" {
		t.Errorf("got %+v %s, want 2 new buffers, and one idle", s, p.Fault())
	}
}

func TestIdleBuffersAreDropped(t *testing.T) {
	for name, drop := range map[string]func(p *pool.Buffers){
		"Trim":   func(p *pool.Buffers) { p.Trim(0) },
		"shrink": func(p *pool.Buffers) { p.Shrink(); p.Shrink() },
	} {
		p := pool.NewBuffers(pool.BuffersConfig{})
		for depth := range 30 {
			var some [3]*pool.Buffer
			for i := range some {
				some[i] = p.Get(64)
			}
			atDepth(depth, func() {
				for _, b := range some {
					p.Put(b)
				}
			})
			drop(p)
			if s := p.Stats(); s.Len != 0 || s.Trimmed != uint64(3*depth+3) || p.Fault() != "" {
				t.Errorf("%s, depth %d: got %+v %s, want all dropped", name, depth, s, p.Fault())
			}
			if n := p.Reserved(); n > 0 {
				t.Errorf("%s, depth %d: got %d reserved slots, want none", name, depth, n)
			}
		}
	}
}

// A buffer that was used since the last collection is kept.
func TestUsedBuffersAreNotDropped(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{})
	for range 5 {
		p.Put(p.Get(64))
		p.Shrink()
	}
	if s := p.Stats(); s.Len != 1 || s.Trimmed != 0 {
		t.Errorf("got %+v, want the buffer", s)
	}
}

// A ward is what goroutines share in the model of Buffers.
type ward struct {
	*pool.Buffers
	next atomic.Uint64                  // number of the next owner of a buffer
	left [8]atomic.Pointer[pool.Buffer] // buffers that change hands while they are in use
}

// own writes a number that no other owner has to a buffer.
func (w *ward) own(b *pool.Buffer) {
	b.B = binary.LittleEndian.AppendUint64(b.B[:0], w.next.Add(1))
}

// wander does n random operations, and puts what it has.
func (w *ward) wander(t *testing.T, from uint64, n int) {
	random := rand.New(rand.NewPCG(from, 5))
	mine := map[*pool.Buffer]uint64{}
	put := func(b *pool.Buffer) {
		if got := binary.LittleEndian.Uint64(b.B); got != mine[b] {
			t.Errorf("owner %d found the number %d: the buffer was handed out twice", mine[b], got)
		}
		delete(mine, b)
		w.Put(b)
	}
	for range n {
		switch k := random.IntN(1000); {
		case k == 0:
			w.Trim(random.IntN(1000))
		case k == 1:
			w.Stats()
		case k == 2 && random.IntN(10) == 0:
			runtime.GC()
		case k < 100:
			b := w.Get(64)
			w.own(b)
			if b = w.left[k%len(w.left)].Swap(b); b != nil {
				mine[b] = binary.LittleEndian.Uint64(b.B)
			}
		case len(mine) == 0 || k%2 == 0 && len(mine) < 4:
			atDepth(k%7, func() {
				b := w.Get(64)
				w.own(b)
				mine[b] = binary.LittleEndian.Uint64(b.B)
			})
		default:
			for b := range mine {
				if k%5 == 0 {
					b.Grow(100)
				}
				atDepth(k%7, func() { put(b) })
				break
			}
		}
	}
	for b := range mine {
		put(b)
	}
}

func TestModelOfBuffers(t *testing.T) {
	for _, c := range []pool.BuffersConfig{{}, {GCShrink: true}, {Limit: 3}} {
		procs(t, 4)
		from := seed.Of(t)
		w := &ward{Buffers: pool.NewBuffers(c)}
		n := steps(t, 20_000)
		var wg sync.WaitGroup
		for id := range uint64(6) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				w.wander(t, from+id, n)
			}()
		}
		wg.Wait()
		for i := range w.left {
			w.Put(w.left[i].Load())
		}
		s := w.Stats()
		rest := s.Dropped + s.Trimmed + uint64(s.Len)
		if s.Puts != s.Gets || s.Puts != s.Hits+rest || s.Misused+s.Outgrown > 0 {
			t.Errorf("%+v: got %+v, which does not add up", c, s)
		}
		seen := map[*pool.Buffer]bool{}
		for _, size := range []int{64, 128, 192} {
			for hits := w.Stats().Hits; ; {
				b := w.Get(size)
				now := w.Stats().Hits
				if now == hits {
					break // it is new
				}
				hits = now
				seen[b] = true
			}
		}
		if after := w.Stats(); len(seen) != s.Len || after.Len != 0 || w.Fault() != "" {
			t.Errorf("%+v: got %d buffers of %d, and %+v %s", c, len(seen), s.Len, after, w.Fault())
		}
	}
}
