// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package pool_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/pool"
)

// wantFault checks that f panics with a text that begins with want, and has the
// stack of a function of this file.
func wantFault(t *testing.T, name, want, function string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got, _ := recover().(string)
		text, stack, _ := strings.Cut(got, "\n")
		if !strings.HasPrefix(text, want) {
			t.Errorf("%s: got panic %q, want %q", name, text, want)
		}
		if !strings.Contains(stack, "pool_test."+function) || !strings.Contains(stack, "track_on_test.go:") {
			t.Errorf("%s: got stack\n%s\nwant %s in it", name, stack, function)
		}
	}()
	f()
}

//go:noinline
func firstPut[T any](p *pool.Pool[T], v T) { p.Put(v) }

// twice puts a value, and then it or a copy of it again.
func twice[T any](t *testing.T, name string, first, second T) {
	t.Helper()
	var p pool.Pool[T]
	firstPut(&p, first)
	wantFault(t, name, "nib/pool: value put twice; it was first put here:", "firstPut", func() { p.Put(second) })
	if got := p.Stats().Len; got != 1 {
		t.Errorf("%s: got %d values, want 1", name, got)
	}
}

func TestSecondPutPanicsWithTheStackOfTheFirst(t *testing.T) {
	v := &named{name: "a"}
	b := make([]byte, 5, 20)
	m := map[int]int{}
	c := make(chan int)
	twice(t, "pointer", v, v)
	twice(t, "slice", b, b)
	twice(t, "slice cut in length", b, b[:0])
	twice(t, "slice cut at the front", b, b[3:4])
	twice(t, "map", m, m)
	twice(t, "chan", c, c)
}

func TestSecondPutOfAnInterfacePanics(t *testing.T) {
	r := strings.NewReader("x")
	twice(t, "interface", io.Reader(r), io.Reader(r))
	twice(t, "any", any(r), any(r))
}

// A value without an identity may be idle any number of times.
func TestValuesWithoutIdentityAreNotFollowed(t *testing.T) {
	again := func(name string, put func()) {
		defer func() {
			if fault := recover(); fault != nil {
				t.Errorf("%s: got panic %v", name, fault)
			}
		}()
		put()
		put()
	}
	var ints pool.Pool[int]
	var strs pool.Pool[string]
	var structs pool.Pool[named]
	var slices pool.Pool[[]byte]
	var pointers pool.Pool[*named]
	var empty pool.Pool[*struct{}]
	var maps pool.Pool[map[int]int]
	var anything pool.Pool[any]
	nothing := &struct{}{}
	again("int", func() { ints.Put(1) })
	again("string", func() { strs.Put("a") })
	again("struct", func() { structs.Put(named{}) })
	again("nil slice", func() { slices.Put(nil) })
	again("slice without capacity", func() { slices.Put(make([]byte, 3)[3:]) })
	again("nil pointer", func() { pointers.Put(nil) })
	again("pointer to nothing", func() { empty.Put(nothing) })
	again("nil map", func() { maps.Put(nil) })
	again("nil interface", func() { anything.Put(nil) })
}

// A pointer to a struct is also one to its first field, yet not the same value,
// and parts of one array are different ones.
func TestNeighboursAreDifferentValues(t *testing.T) {
	v := &named{}
	var p pool.Pool[any]
	p.Put(v)
	p.Put(&v.name)
	b := make([]byte, 30)
	var q pool.Pool[[]byte]
	q.Put(b[:10:10])
	q.Put(b[10:20:20])
	q.Put(b[20:])
	if p.Stats().Len != 2 || q.Stats().Len != 3 {
		t.Errorf("got %+v and %+v, want all kept", p.Stats(), q.Stats())
	}
}

func TestValueMayBePutAgainAfterGet(t *testing.T) {
	var p pool.Pool[*named]
	v := new(named)
	for range 1000 {
		p.Put(v)
		v = p.Get()
		v.n++
	}
	q := pool.New[*named](nil, pool.WithLimit(0))
	for range 10 {
		q.Put(v) // dropped, so it is the caller's again
	}
	p.Put(v)
	p.Trim(0)
	p.Put(v)
}

func TestUseAfterPutPanicsWithTheStackOfThePut(t *testing.T) {
	const want = "nib/pool: value used after Put: byte "
	var p pool.Pool[*named]
	v := new(named)
	firstPut(&p, v)
	v.n = 5
	wantFault(t, "pointer", want, "firstPut", func() { p.Get() })

	var q pool.Pool[[]byte]
	b := make([]byte, 5, 20)
	firstPut(&q, b)
	b[:20][19] = 1
	wantFault(t, "slice", want+"19 of what it refers to was 0x00 and is 0x01", "firstPut", func() { q.Get() })

	firstPut(&q, b)
	b[0] = 9
	wantFault(t, "trimmed", want, "firstPut", func() { q.Trim(0) })
	if got := q.Stats().Len; got != 0 || q.Fault() != "" {
		t.Errorf("after Trim: got %d values %s, want none", got, q.Fault())
	}
	firstPut(&q, b)
	b[0] = 10
	q.Shrink()
	wantFault(t, "shrunk", want, "firstPut", func() { q.Shrink() })
	q.Put(b)
	q.Get() // everything still works
}

func TestUseOfAPreallocatedValueIsFound(t *testing.T) {
	var mine *named
	p := pool.New(func() *named { mine = new(named); return mine }, pool.WithPrealloc(1))
	mine.n = 1
	wantFault(t, "preallocated", "nib/pool: value used after Put", "TestUseOfAPreallocatedValueIsFound", func() { p.Get() })
}

// Erase must not run on a value that has another owner by now.
func TestSecondPutDoesNotErase(t *testing.T) {
	p := newPages()
	v := p.Get()
	func() { p.Put(v) }()
	wantFault(t, "erasable", "nib/pool: value put twice", "TestSecondPutDoesNotErase", func() { p.Put(v) })
	if v.erased != 1 {
		t.Errorf("got %d calls of Erase, want 1", v.erased)
	}
}

func TestRecordsKeepNothingAlive(t *testing.T) {
	var p pool.Pool[*[1 << 10]byte]
	v := new([1 << 10]byte)
	done := whenCollected(v)
	p.Put(v)
	v = p.Get()
	runtime.KeepAlive(v)
	v = nil
	if !collected(done) {
		t.Error("a value that was taken and dropped is still alive")
	}
	runtime.KeepAlive(&p)
}

//go:noinline
func firstPutBuffer(p *pool.Buffers, b *pool.Buffer) { p.Put(b) }

func TestMisuseOfBuffersPanics(t *testing.T) {
	const used = "nib/pool: buffer used after Put"
	cases := []struct {
		name, want string
		misuse     func(p *pool.Buffers, b *pool.Buffer)
	}{
		{"second Put", "nib/pool: buffer put twice; it was first put here:", func(p *pool.Buffers, b *pool.Buffer) {
			firstPutBuffer(p, b)
			p.Put(b)
		}},
		{"Grow", used + "; it was put here:", func(p *pool.Buffers, b *pool.Buffer) {
			firstPutBuffer(p, b)
			b.Grow(1)
		}},
		{"Write", used, func(p *pool.Buffers, b *pool.Buffer) {
			firstPutBuffer(p, b)
			b.Write([]byte("x"))
		}},
		{"write to a slice", used + ": byte 99 of its memory is 0x07;", func(p *pool.Buffers, b *pool.Buffer) {
			old := b.B[:100]
			firstPutBuffer(p, b)
			old[99] = 7
			p.Get(100)
		}},
		{"B set", "nib/pool: value used after Put", func(p *pool.Buffers, b *pool.Buffer) {
			firstPutBuffer(p, b)
			b.B = make([]byte, 1)
			p.Get(100)
		}},
		{"second Put of a buffer that is too large to be kept", "nib/pool: buffer put twice", func(p *pool.Buffers, _ *pool.Buffer) {
			large := p.Get(10 << 20)
			firstPutBuffer(p, large)
			p.Put(large)
		}},
	}
	for _, c := range cases {
		var p pool.Buffers
		wantFault(t, c.name, c.want, "firstPutBuffer", func() { c.misuse(&p, p.Get(100)) })
	}
}

func TestForeignBuffersPanic(t *testing.T) {
	const want = "nib/pool: buffer put that did not come from these Buffers"
	var p, other pool.Buffers
	wantPanic(t, want, func() { p.Put(&pool.Buffer{}) })
	b := other.Get(10)
	wantPanic(t, want, func() { p.Put(b) })
	other.Put(b)
}

func TestIdleBuffersArePoisoned(t *testing.T) {
	var p pool.Buffers
	b := p.Get(10)
	old := append(b.B, "secret"...)
	p.Put(b)
	if string(old) != "\xcc\xcc\xcc\xcc\xcc\xcc" {
		t.Errorf("got %q, want poison", old)
	}
}
