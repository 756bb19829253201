// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/pool"
)

// An item is a value of the model. Its number is unique.
type item struct {
	number int
	held   atomic.Bool
}

// A world is a pool that several goroutines use, and the state of all its
// values.
type world struct {
	t                *testing.T
	pool             *pool.Pool[*item]
	gets, puts, made atomic.Int64
}

func newWorld(t *testing.T, opts ...pool.Option) *world {
	w := &world{t: t}
	w.pool = pool.New(func() *item {
		return &item{number: int(w.made.Add(1))}
	}, opts...)
	return w
}

// get takes a value, which no other goroutine may have.
func (w *world) get() *item {
	w.gets.Add(1)
	v := w.pool.Get()
	if v.held.Swap(true) {
		w.t.Errorf("value %d was handed out twice", v.number)
	}
	return v
}

func (w *world) put(v *item) {
	w.puts.Add(1)
	v.held.Store(false)
	w.pool.Put(v)
}

// wander does n random operations and returns its values.
func (w *world) wander(from uint64, n int) {
	random := rand.New(rand.NewPCG(from, 3))
	var mine []*item
	step := func() {
		switch k := random.IntN(1000); {
		case k == 0:
			w.pool.Trim(random.IntN(300))
		case k == 1:
			w.pool.Stats()
		case k == 2 && random.IntN(10) == 0:
			runtime.GC()
		case k == 3 && random.IntN(10) == 0:
			runtime.GOMAXPROCS(1 + random.IntN(8))
		case len(mine) == 0 || k%2 == 0 && len(mine) < 100:
			mine = append(mine, w.get())
		default:
			last := len(mine) - 1
			w.put(mine[last])
			mine = mine[:last]
		}
	}
	for done := 0; done < n; {
		burst := min(1+random.IntN(200), n-done)
		atDepth(random.IntN(6), func() {
			for range burst {
				step()
			}
		})
		done += burst
	}
	for _, v := range mine {
		w.put(v)
	}
}

// settle compares the accounts of a pool at rest with the accounts of the
// world.
func (w *world) settle() {
	s := w.pool.Stats()
	gets, puts, made := uint64(w.gets.Load()), uint64(w.puts.Load()), uint64(w.made.Load())
	if s.Gets != gets || s.Puts != puts || s.Hits != gets-(made-s.Preallocated) {
		w.t.Errorf("got %+v, want %d gets, %d puts, %d made", s, gets, puts, made)
	}
	if s.Puts+s.Preallocated != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) {
		w.t.Errorf("got %+v, which does not add up", s)
	}
	if fault := w.pool.Fault(); fault != "" {
		w.t.Error(fault)
	}
	seen := map[int]bool{}
	for range s.Len {
		v := w.get()
		if seen[v.number] || uint64(v.number) > made {
			w.t.Errorf("value %d was there twice, or was not", v.number)
		}
		seen[v.number] = true
	}
	if lost := made - uint64(len(seen)) - s.Dropped - s.Trimmed; lost != 0 {
		w.t.Errorf("%d of %d values were lost", lost, made)
	}
}

// steps returns a number of steps that suits the build, and logs it.
func steps(t *testing.T, n int) int {
	switch {
	case pool.Tracking: // each Put takes a stack
		n /= 100
	case testing.Short():
		n /= 10
	}
	t.Logf("%d steps for each goroutine", n)
	return n
}

func TestModelOfConcurrentUse(t *testing.T) {
	cases := []struct {
		name string
		opts []pool.Option
	}{
		{"plain", nil},
		{"limit", []pool.Option{pool.WithLimit(50)}},
		{"limit of 1", []pool.Option{pool.WithLimit(1)}},
		{"preallocated", []pool.Option{pool.WithPrealloc(200), pool.WithLimit(300)}},
		{"shrinking", []pool.Option{pool.WithGCShrink()}},
	}
	from := seed.Of(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			procs(t, 4)
			w := newWorld(t, c.opts...)
			n := steps(t, 200_000)
			for round := range uint64(3) {
				var wg sync.WaitGroup
				for id := range uint64(6) {
					wg.Add(1)
					go func() {
						defer wg.Done()
						w.wander(from+10*round+id, n/3)
					}()
				}
				wg.Wait()
			}
			w.settle()
		})
	}
}

// A stock is a world with so many values that each Get must find one: those
// that goroutines hold, or have left for others, are fewer.
type stock struct {
	*world
	left [64]atomic.Pointer[item] // values that change hands outside of the pool
}

const (
	stocked = 2000
	holders = 8
	most    = 100 // values that a holder has
)

// trade does n random operations, and returns its values. Holders take turns in
// preferring Get and Put, so values of one processor are wanted on another.
func (s *stock) trade(from, id uint64, n int) {
	random := rand.New(rand.NewPCG(from, id))
	var mine []*item
	for i := range n {
		gets := 3 + 4*int((id+uint64(i)/500)%2) // of 10 operations
		switch k := random.IntN(10_000); {
		case k == 0 && random.IntN(4) == 0:
			runtime.GC()
		case k == 1:
			runtime.GOMAXPROCS(1 + random.IntN(8))
		case k == 2:
			s.pool.Stats()
		case k < 1000 && len(mine) > 0:
			last := len(mine) - 1
			if mine[last] = s.left[k%len(s.left)].Swap(mine[last]); mine[last] == nil {
				mine = mine[:last]
			}
		case len(mine) == 0 || k%10 < gets && len(mine) < most:
			atDepth(k%5, func() { mine = append(mine, s.get()) })
		default:
			last := len(mine) - 1
			atDepth(k%5, func() { s.put(mine[last]) })
			mine = mine[:last]
		}
	}
	for _, v := range mine {
		s.put(v)
	}
}

// NIB_E2E=full makes it ten million operations.
func TestModelOfAFullStock(t *testing.T) {
	n := steps(t, 500_000/holders)
	if os.Getenv("NIB_E2E") == "full" {
		n = 10_000_000 / holders
	}
	from := seed.Of(t)
	procs(t, 4)
	s := &stock{world: newWorld(t, pool.WithPrealloc(stocked))}
	var wg sync.WaitGroup
	for id := range uint64(holders) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.trade(from, id, n)
		}()
	}
	wg.Wait()
	for i := range s.left {
		if v := s.left[i].Load(); v != nil {
			s.put(v)
		}
	}
	if got := s.made.Load(); got != stocked {
		t.Errorf("%d Gets found none of %d values", got-stocked, stocked)
	}
	s.settle()
}

func TestEightGoroutinesAMillionOperations(t *testing.T) {
	procs(t, 8)
	var p pool.Pool[[]byte]
	n := steps(t, 1_000_000)
	var wg sync.WaitGroup
	for id := range byte(8) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range n / 2 {
				b := p.Get()
				b = append(b[:0], id, id, id, id)
				runtime.KeepAlive(b)
				if b[0] != id || b[3] != id {
					t.Errorf("got %v, want only %d", b, id)
				}
				p.Put(b)
			}
		}()
	}
	wg.Wait()
	s := p.Stats()
	if want := uint64(8 * (n / 2)); s.Gets != want || s.Puts != want || s.Len != int(s.Gets-s.Hits) || p.Fault() != "" {
		t.Errorf("got %+v %s, want %d gets and puts", s, p.Fault(), want)
	}
}

// Each byte is a step of one goroutine. Without others the result is certain:
// which Puts are kept, and whether a Get finds a value.
func FuzzPool(f *testing.F) {
	f.Add([]byte{0, 0x80, 0x81, 0, 1, 2})
	f.Add([]byte{9, 0x90, 0x90, 0x90, 0x7f, 0x7e, 0x90, 0, 0, 0, 0})
	f.Add([]byte{255, 0xbf, 0xff, 0x3f, 0x7d, 0xbf, 0x3f})
	random := rand.New(rand.NewPCG(4, 5))
	for _, limit := range []byte{0, 1, 7, 33, 199, 255} {
		script := []byte{limit}
		for i := range 600 {
			more := byte(i/60%2) << 7 // Puts, then Gets
			script = append(script, byte(random.IntN(128))|more)
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 {
			return
		}
		var opts []pool.Option
		limit := int(script[0])
		if limit < 200 {
			opts = append(opts, pool.WithLimit(limit))
		} else {
			limit = math.MaxInt
		}
		p := newCounted(opts...)
		idle := map[int]bool{} // some of those are gone after Trim
		next, have := 0, 0
		for _, b := range script[1:] {
			depth, count := int(b>>3&7), 1+int(b&7)*3
			switch {
			case b == 0x7e:
				p.Shrink()
				have = p.Stats().Len
			case b == 0x7f:
				p.Trim(have / 2)
				have -= have - have/2
			case b < 0x80:
				atDepth(depth, func() { have = fuzzGets(t, p, idle, have, count) })
			default:
				atDepth(depth, func() { fill(p.Pool, next, next+count) })
				for range count {
					idle[next] = true
					next++
				}
				have = min(have+count, limit)
			}
			if got := p.Stats().Len; got != have || p.Fault() != "" {
				t.Fatalf("after %#02x: got %d values %s, want %d", b, got, p.Fault(), have)
			}
		}
	})
}

// fuzzGets takes values from a pool that has some, and returns how many are
// left.
func fuzzGets(t *testing.T, p *counted, idle map[int]bool, have, count int) int {
	for range count {
		v := p.Get()
		if (v < 0) != (have == 0) {
			t.Fatalf("got %d with %d values idle", v, have)
		}
		if v >= 0 {
			if !idle[v] {
				t.Fatalf("got %d, which is not idle", v)
			}
			delete(idle, v)
			have--
		}
	}
	return have
}
