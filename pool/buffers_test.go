// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/pool"
)

var (
	_ io.Writer       = (*pool.Buffer)(nil)
	_ io.StringWriter = (*pool.Buffer)(nil)
	_ io.ByteWriter   = (*pool.Buffer)(nil)
)

func TestGetReturnsTheRequestedCapacity(t *testing.T) {
	var p pool.Buffers
	for _, n := range []int{0, 1, 63, 64, 65, 96, 97, 1000, 1024, 1025, 1 << 20, 1<<20 + 1, 3 << 20} {
		for range 2 { // new, and used
			b := p.Get(n)
			if len(b.B) != 0 || cap(b.B) < n {
				t.Errorf("Get(%d): got len %d, cap %d, want 0 and as many", n, len(b.B), cap(b.B))
			}
			b.B = append(b.B, strings.Repeat("x", cap(b.B))...)
			p.Put(b)
		}
	}
}

func TestBufferComesBackForItsClass(t *testing.T) {
	var p pool.Buffers
	b := p.Get(100)
	p.Put(b)
	for _, n := range []int{97, 128} {
		if got := p.Get(n); got != b {
			t.Errorf("Get(%d): got another buffer", n)
		} else {
			p.Put(got)
		}
	}
	for _, n := range []int{96, 129} {
		if got := p.Get(n); got == b {
			t.Errorf("Get(%d): got a buffer of another class", n)
		}
	}
	if b.B != nil {
		t.Error("an idle buffer still shows its memory")
	}
}

// Whatever B was set to, only the buffer's own memory goes to the pool.
func TestForeignSlicesAreNotAdopted(t *testing.T) {
	foreign := []byte(strings.Repeat("f", 200))
	cases := map[string]func(b *pool.Buffer){
		"replaced":           func(b *pool.Buffer) { b.B = foreign },
		"replaced by a part": func(b *pool.Buffer) { b.B = foreign[50:100:128] },
		"nil":                func(b *pool.Buffer) { b.B = nil },
		"cut":                func(b *pool.Buffer) { b.B = b.B[:100][60:80] },
		"cut with capacity":  func(b *pool.Buffer) { b.B = b.B[:100][60:80:80] },
		"outgrown":           func(b *pool.Buffer) { b.B = append(b.B, make([]byte, 1000)...) },
	}
	for name, change := range cases {
		var p pool.Buffers
		b := p.Get(128)
		own := &b.B[:1][0]
		change(b)
		p.Put(b)
		if got := p.Get(128); cap(got.B) != 128 || &got.B[:1][0] != own {
			t.Errorf("%s: got capacity %d, want the buffer's own memory", name, cap(got.B))
		}
	}
	if got := string(foreign); got != strings.Repeat("f", 200) {
		t.Errorf("the foreign slice was written to: %q", got)
	}
}

func TestMovesByAppendAreCounted(t *testing.T) {
	var p pool.Buffers
	for i, c := range []struct {
		name   string
		change func(b *pool.Buffer)
		want   uint64
	}{
		{"within", func(b *pool.Buffer) { b.B = append(b.B, make([]byte, 128)...) }, 0},
		{"cut", func(b *pool.Buffer) { b.B = append(b.B, "abc"...)[1:2] }, 0},
		{"cut to nothing", func(b *pool.Buffer) { b.B = b.B[:128][128:] }, 0},
		{"beyond", func(b *pool.Buffer) { b.B = append(b.B, make([]byte, 129)...) }, 1},
		{"replaced", func(b *pool.Buffer) { b.B = make([]byte, 128) }, 1},
		{"Write", func(b *pool.Buffer) { b.Write(make([]byte, 10_000)) }, 0},
		{"beyond, then Write", func(b *pool.Buffer) { b.B = append(b.B, make([]byte, 129)...); b.Write(make([]byte, 10_000)) }, 1},
	} {
		before := p.Stats()
		b := p.Get(128)
		c.change(b)
		p.Put(b)
		after := p.Stats()
		if got := after.Outgrown - before.Outgrown; got != c.want {
			t.Errorf("%d %s: got %d, want %d", i, c.name, got, c.want)
		}
	}
}

func TestOversizeBuffersAreDroppedAndCounted(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{MaxSize: 1000})
	for _, n := range []int{1024, 1025, 5000} { // 1000 is rounded up to a class
		p.Put(p.Get(n))
	}
	s := p.Stats()
	if s.Oversize != 2 || s.Dropped != 2 || s.Len != 1 || s.Bytes != 1024 || s.Gets != 3 || s.Puts != 3 {
		t.Errorf("got %+v, want 2 of 3 dropped", s)
	}
	if got := cap(p.Get(5000).B); got != 5000 {
		t.Errorf("got capacity %d, want just what was asked for", got)
	}
}

func TestBuffersHaveALimitForEachClass(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{Limit: 2})
	var held []*pool.Buffer
	for i := range 10 {
		held = append(held, p.Get(100+500*(i%2)))
	}
	for _, b := range held {
		p.Put(b)
	}
	if s := p.Stats(); s.Len != 4 || s.Dropped != 6 || s.Bytes != 2*128+2*768 {
		t.Errorf("got %+v, want 2 of each class", s)
	}
}

func TestBuffersShrinkWithTheCollector(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{GCShrink: true})
	p.Put(p.Get(100))
	p.Put(p.Get(1000))
	if !eventually(func() bool { return p.Stats().Len == 0 }) {
		t.Errorf("got %+v after many collections, want none idle", p.Stats())
	}
}

func TestTrimOfBuffersDropsTheLargestFirst(t *testing.T) {
	for _, c := range []struct {
		to, len int
		bytes   int64
	}{
		{1 << 30, 30, 10*64 + 10*1024 + 10*4096},
		{10*64 + 10*1024 + 10*4096 - 1, 29, 10*64 + 10*1024 + 9*4096},
		{10*64 + 5*1024, 15, 10*64 + 5*1024},
		{10*64 + 5*1024 - 1, 14, 10*64 + 4*1024},
		{100, 1, 64},
		{63, 0, 0},
		{0, 0, 0},
	} {
		var p pool.Buffers
		var held []*pool.Buffer
		for i := range 30 {
			held = append(held, p.Get([]int{64, 1024, 4096}[i%3]))
		}
		for _, b := range held {
			p.Put(b)
		}
		p.Trim(c.to)
		if s := p.Stats(); s.Len != c.len || s.Bytes != c.bytes || s.Puts != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) {
			t.Errorf("Trim(%d): got %d buffers of %d bytes, want %d of %d", c.to, s.Len, s.Bytes, c.len, c.bytes)
		}
	}
}

func TestBuffersPanicClearly(t *testing.T) {
	var p pool.Buffers
	b := p.Get(1)
	wantPanic(t, "nib/pool: buffer of -1 bytes", func() { p.Get(-1) })
	wantPanic(t, "nib/pool: Trim to a negative number of bytes", func() { p.Trim(-1) })
	wantPanic(t, "nib/pool: Grow by -1 bytes", func() { b.Grow(-1) })
	wantPanic(t, "nib/pool: limit -1 is negative", func() { pool.NewBuffers(pool.BuffersConfig{Limit: -1}) })
	wantPanic(t, "nib/pool: largest buffer of -1 bytes is not in 0 to 1073741824",
		func() { pool.NewBuffers(pool.BuffersConfig{MaxSize: -1}) })
	wantPanic(t, "nib/pool: largest buffer of 1073741825 bytes is not in 0 to 1073741824",
		func() { pool.NewBuffers(pool.BuffersConfig{MaxSize: 1<<30 + 1}) })
}

func TestPutOfNilDoesNothing(t *testing.T) {
	var p pool.Buffers
	p.Put(nil)
	if got := p.Stats(); got != (pool.BuffersStats{}) {
		t.Errorf("got %+v, want all zero", got)
	}
}

// Each goroutine writes its own text, with every method, and reads it again.
func TestBuffersOfManyGoroutines(t *testing.T) {
	procs(t, 4)
	var p pool.Buffers
	n, from := steps(t, 20_000), seed.Of(t)
	var wg sync.WaitGroup
	for id := range byte(8) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			random := rand.New(rand.NewPCG(from, uint64(id)))
			for range n {
				b := p.Get(random.IntN(300))
				size := random.IntN(2000)
				for len(b.B) < size {
					switch random.IntN(4) {
					case 0:
						b.WriteByte('a' + id)
					case 1:
						fmt.Fprintf(b, "%c%c", 'a'+id, 'a'+id)
					case 2:
						b.WriteString(strings.Repeat(string('a'+rune(id)), 100))
					default:
						b.B = append(b.B, 'a'+id)
					}
				}
				if got := bytes.Count(b.B, []byte{'a' + id}); got != len(b.B) {
					t.Errorf("goroutine %d: %d of %d bytes are foreign", id, len(b.B)-got, len(b.B))
				}
				p.Put(b)
			}
		}()
	}
	wg.Wait()
	s := p.Stats()
	if s.Gets != s.Puts || s.Misused != 0 || uint64(s.Len) != s.Gets-s.Hits {
		t.Errorf("got %+v, want all buffers back", s)
	}
}
