// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/pool"
)

// collected waits until a cleanup closes done, and reports whether it did.
func collected(done <-chan struct{}) bool {
	return eventually(func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

// whenCollected closes the channel when the object is garbage.
func whenCollected[T any](object *T) <-chan struct{} {
	done := make(chan struct{})
	runtime.AddCleanup(object, func(done chan struct{}) { close(done) }, done)
	return done
}

// atDepth calls f some KiB further down the stack, where it has another shard.
//
//go:noinline
func atDepth(kib int, f func()) {
	var frame [1 << 10]byte
	if kib == 0 {
		f()
		return
	}
	atDepth(kib-1, f)
	runtime.KeepAlive(&frame)
}

func TestZeroPoolGivesZeroValues(t *testing.T) {
	var p pool.Pool[[]byte]
	if got := p.Get(); got != nil {
		t.Errorf("got %v, want nil", got)
	}
	p.Put([]byte("abc"))
	if got := p.Get(); string(got) != "abc" {
		t.Errorf("got %q, want abc", got)
	}
	if got, want := p.Stats(), (pool.Stats{Gets: 2, Hits: 1, Puts: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestStatsAndTrimOfAnUnusedPool(t *testing.T) {
	var p pool.Pool[int]
	p.Trim(0)
	p.Shrink()
	if got := p.Stats(); got != (pool.Stats{}) {
		t.Errorf("got %+v, want all zero", got)
	}
}

func TestEmptyPoolCallsTheConstructor(t *testing.T) {
	calls := 0
	p := pool.New(func() int { calls++; return 100 + calls })
	for _, want := range []int{101, 102} {
		if got := p.Get(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	p.Put(7)
	if got := p.Get(); got != 7 || calls != 2 {
		t.Errorf("got %d after %d calls, want 7 after 2", got, calls)
	}
	if got := pool.New[int](nil).Get(); got != 0 {
		t.Errorf("nil constructor: got %d, want 0", got)
	}
}

type point struct {
	name string
	x, y float64
	tags []string
}

func TestValuesComeBackAsTheyWerePut(t *testing.T) {
	t.Run("slice", func(t *testing.T) {
		var p pool.Pool[[]byte]
		p.Put(make([]byte, 3, 77))
		if got := p.Get(); len(got) != 3 || cap(got) != 77 {
			t.Errorf("got len %d, cap %d, want 3 and 77", len(got), cap(got))
		}
	})
	t.Run("struct", func(t *testing.T) {
		var p pool.Pool[point]
		want := point{"a", 1, 2, []string{"b", "c"}}
		p.Put(want)
		if got := p.Get(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("interface", func(t *testing.T) {
		var p pool.Pool[io.Reader]
		want := strings.NewReader("x")
		p.Put(want)
		p.Put(nil)
		if a, b := p.Get(), p.Get(); a != nil && b != nil || a != io.Reader(want) && b != io.Reader(want) {
			t.Errorf("got %v and %v, want the reader and nil", a, b)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		var p pool.Pool[struct{}]
		for range 1000 {
			p.Put(struct{}{})
		}
		if got := p.Stats().Len; got != 1000 {
			t.Errorf("got %d, want 1000", got)
		}
	})
	t.Run("64 KiB", func(t *testing.T) {
		var p pool.Pool[[64 << 10]byte]
		for i := range 9 {
			p.Put([64 << 10]byte{1: byte(i)})
		}
		seen := map[byte]bool{}
		for range 9 {
			seen[p.Get()[1]] = true
		}
		if len(seen) != 9 {
			t.Errorf("got %d different values, want 9", len(seen))
		}
	})
}

func TestOptionsOutOfRangePanic(t *testing.T) {
	wantPanic(t, "nib/pool: limit -1 is negative", func() { pool.New[int](nil, pool.WithLimit(-1)) })
	wantPanic(t, "nib/pool: preallocation of -2 values is negative", func() { pool.New[int](nil, pool.WithPrealloc(-2)) })
	wantPanic(t, "nib/pool: preallocation of 3 values is above the limit of 2",
		func() { pool.New[int](nil, pool.WithPrealloc(3), pool.WithLimit(2)) })
}

func TestPreallocatedValuesAreThere(t *testing.T) {
	calls := 0
	p := pool.New(func() int { calls++; return calls }, pool.WithPrealloc(100), pool.WithLimit(100))
	if got := p.Stats(); calls != 100 || got.Len != 100 || got.Preallocated != 100 || got.Puts != 0 {
		t.Errorf("got %d calls, %+v, want 100", calls, got)
	}
	seen := map[int]bool{}
	for range 100 {
		seen[p.Get()] = true
	}
	if len(seen) != 100 || calls != 100 {
		t.Errorf("got %d values after %d calls, want 100", len(seen), calls)
	}
	if got := p.Get(); got != 101 {
		t.Errorf("got %d, want a new one", got)
	}
}

func TestTakenValueIsCollected(t *testing.T) {
	var p pool.Pool[*[32 << 20]byte]
	p.Put(new([32 << 20]byte))
	done := whenCollected(p.Get())
	if !collected(done) {
		t.Error("an object of 32 MB that was taken and dropped is still alive")
	}
	runtime.KeepAlive(&p)
}

func TestDroppedValuesAreCollected(t *testing.T) {
	cases := map[string]func(p *pool.Pool[*[1 << 10]byte]){
		"above the limit": func(*pool.Pool[*[1 << 10]byte]) {},
		"trimmed":         func(p *pool.Pool[*[1 << 10]byte]) { p.Trim(0) },
		"shrunk":          func(p *pool.Pool[*[1 << 10]byte]) { p.Shrink(); p.Shrink() },
	}
	for name, drop := range cases {
		limit := 1000
		if name == "above the limit" {
			limit = 0
		}
		p := pool.New[*[1 << 10]byte](nil, pool.WithLimit(limit), pool.WithGCShrink())
		var done []<-chan struct{}
		for range 100 {
			v := new([1 << 10]byte)
			done = append(done, whenCollected(v))
			p.Put(v)
		}
		drop(p)
		for i, d := range done {
			if !collected(d) {
				t.Fatalf("%s: value %d is still alive", name, i)
			}
		}
		runtime.KeepAlive(p)
	}
}

func TestSlotsOfTakenValuesAreCleared(t *testing.T) {
	var p pool.Pool[string]
	for _, n := range []int{1, 8, 9, 100, 3000} {
		for i := range n {
			atDepth(2*(i%5), func() { p.Put("x") })
		}
		for range n {
			atDepth(3, func() { p.Get() })
		}
		slots := 0
		p.Slots(func(v string) {
			if slots++; v != "" {
				t.Fatalf("%d values: got a slot with %q, want all clear", n, v)
			}
		})
		if slots < n {
			t.Fatalf("%d values: saw only %d slots", n, slots)
		}
	}
}

// A constructor that calls Get and Put would deadlock if a lock were held.
func TestConstructorMayUseThePool(t *testing.T) {
	var p *pool.Pool[int]
	var calls atomic.Int32
	p = pool.New(func() int {
		if calls.Add(1)%3 != 0 {
			p.Put(p.Get())
		}
		p.Stats()
		p.Trim(100)
		return 1
	}, pool.WithLimit(50))
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				if v := p.Get(); i%3 == 0 {
					p.Put(v)
				}
			}
		}()
	}
	wg.Wait()
	if got := p.Fault(); got != "" {
		t.Error(got)
	}
}

func TestPanicOfTheConstructorLosesNothing(t *testing.T) {
	bad := true
	p := pool.New(func() int {
		if bad {
			panic("no")
		}
		return 5
	})
	wantPanic(t, "no", func() { p.Get() })
	bad = false
	if got := p.Get(); got != 5 {
		t.Errorf("got %d, want 5", got)
	}
	p.Put(6)
	if got := p.Get(); got != 6 || p.Fault() != "" {
		t.Errorf("got %d, %s, want 6", got, p.Fault())
	}
}

func TestFirstUseByManyGoroutinesAtOnce(t *testing.T) {
	for range 100 {
		var p pool.Pool[int]
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-start
				p.Put(i + 1)
			}()
		}
		close(start)
		wg.Wait()
		if got := len(drain(t, &p)); got != 8 {
			t.Fatalf("got %d values, want 8", got)
		}
	}
}
