// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/pool"
)

// A page keeps its head when it is erased, and may fail to be.
type page struct {
	head   string
	body   []byte
	child  *page
	broken error
	erased int
	home   *pool.ErasablePool[*page]
}

func (p *page) Erase() error {
	p.erased++
	if p.broken != nil {
		return p.broken
	}
	if p.child != nil {
		child := p.child
		p.child = nil
		if err := p.home.Put(child); err != nil {
			return err
		}
	}
	if string(p.body) == "panic" {
		panic("cannot erase")
	}
	if string(p.body) == "exit" {
		runtime.Goexit()
	}
	clear(p.body)
	p.body = p.body[:0]
	return nil
}

func newPages(opts ...pool.Option) *pool.ErasablePool[*page] {
	return pool.NewErasable(func() *page { return &page{head: "default"} }, opts...)
}

func TestValuesAreErasedByPut(t *testing.T) {
	p := newPages()
	v := p.Get()
	if v.erased != 0 {
		t.Errorf("a new value was erased %d times, want 0", v.erased)
	}
	v.body = append(v.body, "secret"...)
	must.Succeed(t, p.Put(v))
	got := p.Get()
	if got != v || len(got.body) != 0 || got.erased != 1 {
		t.Errorf("got %+v, want the same value, erased once", got)
	}
	if secret := string(got.body[:6]); secret != "\x00\x00\x00\x00\x00\x00" {
		t.Errorf("got %q in the memory of an idle value", secret)
	}
	if got.head != "default" {
		t.Errorf("got head %q, want the constructor's", got.head)
	}
}

func TestValuesThatCannotBeErasedAreDropped(t *testing.T) {
	p := newPages()
	v := p.Get()
	v.broken = errors.New("broken")
	if err := p.Put(v); err != v.broken {
		t.Errorf("got %v, want the error of Erase", err)
	}
	want := pool.Stats{Gets: 1, Puts: 1, Dropped: 1, Failed: 1}
	if got := p.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := p.Get(); got == v {
		t.Error("got the value that could not be erased")
	}
}

func TestPanicOfEraseGoesOn(t *testing.T) {
	p := newPages()
	v := p.Get()
	v.body = []byte("panic")
	wantPanic(t, "cannot erase", func() { p.Put(v) })
	if got := p.Stats(); got.Dropped != 1 || got.Failed != 1 || got.Len != 0 {
		t.Errorf("got %+v, want one dropped", got)
	}
	if err := p.Put(p.Get()); err != nil || p.Stats().Len != 1 {
		t.Errorf("got %v, %+v: the pool does not work any more", err, p.Stats())
	}
}

func TestGoexitInEraseIsCounted(t *testing.T) {
	p := newPages()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Put(&page{body: []byte("exit")})
	}()
	<-done
	if got := p.Stats(); got.Dropped != 1 || got.Failed != 1 || got.Puts != 1 {
		t.Errorf("got %+v, want one dropped", got)
	}
}

// Erase puts a child into the same pool, and the child another one.
func TestEraseMayUseThePool(t *testing.T) {
	p := newPages(pool.WithLimit(1000))
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				top := p.Get()
				top.home = p
				top.child = p.Get()
				top.child.home = p
				top.child.child = p.Get()
				if err := p.Put(top); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if s := p.Stats(); s.Gets != 2400 || s.Puts != 2400 || uint64(s.Len) != s.Gets-s.Hits {
		t.Errorf("got %+v, want 2400 gets and puts", s)
	}
}

func TestErasablePoolTakesOptions(t *testing.T) {
	p := newPages(pool.WithPrealloc(3), pool.WithLimit(3))
	held := []*page{p.Get(), p.Get(), p.Get(), p.Get()}
	for _, v := range held {
		if v.erased != 0 {
			t.Errorf("got a value that was erased %d times, want 0", v.erased)
		}
		if err := p.Put(v); err != nil {
			t.Error(err)
		}
	}
	want := pool.Stats{Gets: 4, Hits: 3, Puts: 4, Dropped: 1, Preallocated: 3, Len: 3}
	if got := p.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	p.Trim(1)
	if got := p.Stats().Len; got != 1 {
		t.Errorf("got %d after Trim(1), want 1", got)
	}
}

func TestNewErasablePanicsClearly(t *testing.T) {
	wantPanic(t, "nib/pool: NewErasable needs a function that makes values", func() { pool.NewErasable[*page](nil) })
	wantPanic(t, "nib/pool: limit -5 is negative", func() { newPages(pool.WithLimit(-5)) })
	wantPanic(t, "nib/pool: preallocation of -1 values is negative", func() { newPages(pool.WithPrealloc(-1)) })
}

func TestIdleErasedValuesKeepNothingAlive(t *testing.T) {
	p := pool.NewErasable(func() *holder { return new(holder) })
	v := p.Get()
	v.what = new([1 << 20]byte)
	done := whenCollected(v.what)
	must.Succeed(t, p.Put(v))
	if !collected(done) {
		t.Error("what an erased value referred to is still alive")
	}
	runtime.KeepAlive(p)
}

type holder struct{ what *[1 << 20]byte }

func (h *holder) Erase() error { h.what = nil; return nil }
