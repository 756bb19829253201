// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib/pool"
)

func TestGrowMovesToLargerMemoryOfThePool(t *testing.T) {
	var p pool.Buffers
	b := p.Get(64)
	small := &b.B[:1][0]
	b.WriteString("hello")
	b.Grow(60)
	if got := string(b.B); got != "hello" || cap(b.B) != 96 {
		t.Errorf("got %q, capacity %d, want hello and 96", got, cap(b.B))
	}
	other := p.Get(64)
	if &other.B[:1][0] != small {
		t.Error("the memory from before did not go back to the pool")
	}
	p.Put(b)
	if s := p.Stats(); s.Grown != 1 || s.Outgrown != 0 || s.Gets != 3 || s.Puts != 2 || s.Bytes != 96 {
		t.Errorf("got %+v, want one move", s)
	}
}

func TestGrowUsesWhatThereIs(t *testing.T) {
	var p pool.Buffers
	b := p.Get(128)
	own := &b.B[:1][0]
	b.B = append(b.B, strings.Repeat("x", 100)+"rest"...)[100:]
	b.Grow(24) // fits behind
	if len(b.B) != 4 || cap(b.B) != 28 {
		t.Errorf("got len %d, cap %d: it was moved without need", len(b.B), cap(b.B))
	}
	b.Grow(124) // fits if it begins at the front
	if string(b.B) != "rest" || cap(b.B) != 128 || &b.B[0] != own {
		t.Errorf("got %q, capacity %d, want rest at the front", b.B, cap(b.B))
	}
	b.B = nil
	b.Grow(1)
	if cap(b.B) != 128 || &b.B[:1][0] != own {
		t.Errorf("after nil: got capacity %d, want its own memory", cap(b.B))
	}
	if got := p.Stats().Grown; got != 0 {
		t.Errorf("got %d moves, want none", got)
	}
}

func TestGrowTakesWhatAppendMadeBack(t *testing.T) {
	var p pool.Buffers
	b := p.Get(64)
	b.B = append(b.B, strings.Repeat("y", 100)...)
	b.WriteString(strings.Repeat("z", 1000))
	if got := string(b.B); got != strings.Repeat("y", 100)+strings.Repeat("z", 1000) {
		t.Errorf("got %q", got)
	}
	p.Put(b)
	if s := p.Stats(); s.Outgrown != 1 || s.Grown != 1 || s.Bytes != 64+1536 {
		t.Errorf("got %+v, want one move by append and one by Write", s)
	}
}

func TestGrowAboveTheLargestSizeDoublesNearly(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{MaxSize: 1024})
	b := p.Get(10)
	for range 200_000 {
		b.WriteByte('x')
	}
	if got := bytes.Count(b.B, []byte("x")); got != 200_000 {
		t.Errorf("got %d bytes, want 200000", got)
	}
	p.Put(b)
	s := p.Stats()
	if s.Outgrown > 0 || s.Oversize > 14 || s.Oversize != s.Dropped || s.Gets != s.Puts {
		t.Errorf("got %+v, want few allocations, each half as large again", s)
	}
}

func TestGrowAboveTheLargestSizeByHalf(t *testing.T) {
	p := pool.NewBuffers(pool.BuffersConfig{MaxSize: 1024})
	for n, want := range map[int]int{1: 4500, 1500: 4500, 1501: 4501, 9000: 12000} {
		b := p.Get(3000)
		b.B = b.B[:3000]
		b.Grow(n)
		if cap(b.B) != want {
			t.Errorf("3000 bytes grow by %d to %d, want %d", n, cap(b.B), want)
		}
		p.Put(b)
	}
}

func TestNothingIsWrittenAsWell(t *testing.T) {
	var p pool.Buffers
	b := p.Get(10)
	b.WriteString("x")
	b.Grow(0)
	b.Write(nil)
	b.WriteString("")
	if string(b.B) != "x" {
		t.Errorf("got %q, want x", b.B)
	}
	wantPanic(t, "nib/pool: Grow by -1 bytes", func() { b.Grow(-1) })
}

func TestGrowBeyondAnyIntPanics(t *testing.T) {
	const most = int(^uint(0) >> 1)
	var p pool.Buffers
	b := p.Get(10)
	b.WriteString("123")
	wantPanic(t, "nib/pool: buffer of 3 bytes cannot grow by "+strconv.Itoa(most), func() { b.Grow(most) })
}

func TestZeroBufferWorksWithoutAPool(t *testing.T) {
	var b pool.Buffer
	b.WriteString("abc")
	b.WriteByte('d')
	b.Write([]byte("ef"))
	b.Grow(1000)
	if got := string(b.B); got != "abcdef" || cap(b.B) < 1006 {
		t.Errorf("got %q, capacity %d", got, cap(b.B))
	}
}

// The same writes to a Buffer and to a bytes.Buffer.
func FuzzBuffer(f *testing.F) {
	f.Add([]byte{0, 200, 3, 255, 255, 10, 0, 0, 77, 130}, "some text")
	f.Fuzz(func(t *testing.T, script []byte, text string) {
		p := pool.NewBuffers(pool.BuffersConfig{MaxSize: 2048})
		b := p.Get(len(script))
		var want bytes.Buffer
		for i, c := range script {
			switch c % 8 {
			case 0:
				b.WriteByte(c)
				want.WriteByte(c)
			case 1, 2:
				b.WriteString(text)
				want.WriteString(text)
			case 3:
				b.Write(bytes.Repeat([]byte{c}, int(c)))
				want.Write(bytes.Repeat([]byte{c}, int(c)))
			case 4:
				b.Grow(int(c) * 10)
			case 5:
				b.B = append(b.B, text...)
				want.WriteString(text)
			case 6:
				n := want.Len() / 3
				b.B = b.B[n:]
				want.Next(n)
			default:
				if i%2 == 0 {
					b.B = bytes.Clone(b.B)
				}
			}
			if !bytes.Equal(b.B, want.Bytes()) {
				t.Fatalf("step %d: got %q, want %q", i, b.B, want.Bytes())
			}
		}
		p.Put(b)
		s := p.Stats()
		if s.Gets != s.Puts || s.Puts != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) || s.Misused != 0 {
			t.Errorf("got %+v, which does not add up", s)
		}
	})
}
