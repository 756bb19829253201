// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// quick measures in less time than the command does.
var quick = Options{Bench: regexp.MustCompile("."), Budget: 100 * time.Millisecond, Hang: 3 * time.Second}

// leafCounts returns the allocations of the package's lines, by leaf; a leaf
// that failed has its failure instead.
func leafCounts(t *testing.T, results []Result) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range results {
		if _, ok := out[r.Name]; ok {
			t.Errorf("%s: two results", r.Name)
		}
		if r.Failed != "" {
			out[r.Name] = r.Failed
			continue
		}
		if r.Inexact {
			t.Errorf("%s: the smallest objects are not counted", r.Name)
		}
		n := 0.0
		for _, s := range r.Sites {
			for _, f := range s.Stack {
				if strings.HasPrefix(f.Func, "example.com/m.") && !strings.Contains(f.Func, "allocs") {
					n += s.PerOp
					break
				}
			}
		}
		out[r.Name] = fmt.Sprint(n)
	}
	return out
}

const leafBenchmarks = `package m

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var chained *[3]int

func times(b *testing.B, n int) {
	for i := 0; i < b.N; i++ {
		for j := 0; j < n; j++ {
			chained = &[3]int{j}
		}
	}
}

func BenchmarkPlain(b *testing.B) { times(b, 1) }

func BenchmarkTable(b *testing.B) {
	for _, n := range []int{1, 10, 0} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { times(b, n) })
	}
}

func BenchmarkNested(b *testing.B) {
	set := make([]*[2]int, 0, 100)
	for i := 0; i < 100; i++ {
		set = append(set, &[2]int{i})
	}
	b.Run("outer", func(b *testing.B) {
		b.Run("inner one", func(b *testing.B) { times(b, 2) })
		b.Run("a/b", func(b *testing.B) { times(b, 3) })
	})
	b.Run("twice", func(b *testing.B) { times(b, 4) })
	b.Run("twice", func(b *testing.B) { times(b, 5) })
	b.Run("", func(b *testing.B) { times(b, 6) })
	b.Run("(.*|[é", func(b *testing.B) { times(b, 7) })
}

func BenchmarkDynamic(b *testing.B) {
	b.Run(fmt.Sprint(time.Now().UnixNano()), func(b *testing.B) { times(b, 8) })
}

func BenchmarkLoop(b *testing.B) {
	b.Run("loop", func(b *testing.B) {
		setup := make([]*int, 50)
		for i := range setup {
			setup[i] = new(int)
		}
		for b.Loop() {
			chained = &[3]int{1}
		}
	})
}

func BenchmarkSetUpVaries(b *testing.B) {
	held := make([]*[5]int, 2000+rand.IntN(500))
	for i := range held {
		held[i] = new([5]int)
	}
	for i := 0; i < b.N; i++ {
		held[i%1000][0]++
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			chained = &[3]int{1}
		}
	})
}

var pool = sync.Pool{New: func() any { return new([9]int) }}

func BenchmarkPool(b *testing.B) {
	for i := 0; i < b.N; i++ {
		p := pool.Get().(*[9]int)
		p[0]++
		pool.Put(p)
	}
}
`

func TestEachLeafIsMeasuredByItself(t *testing.T) {
	for _, release := range releases() {
		b, _ := build(t, release, quick, leafBenchmarks)
		got := leafCounts(t, run(t, b, quick))
		for name, want := range map[string]string{
			"BenchmarkPlain": "1", "BenchmarkTable/n=1": "1", "BenchmarkTable/n=10": "10", "BenchmarkTable/n=0": "0",
			"BenchmarkNested/outer/inner_one": "2", "BenchmarkNested/outer/a/b": "3", "BenchmarkNested/twice": "4",
			"BenchmarkNested/twice#01": "5", "BenchmarkNested/#00": "6", "BenchmarkNested/(.*|[é": "7",
			"BenchmarkLoop/loop": "1", "BenchmarkSetUpVaries": "0",
			"BenchmarkParallel": "1", "BenchmarkPool": "0",
		} {
			if got[name] != want {
				t.Errorf("%s %s: got %q, want %s", release, name, got[name], want)
			}
			delete(got, name)
		}
		if len(got) != 1 { // the one with a name that changes
			t.Errorf("%s: besides: %v", release, got)
		}
		for name, n := range got {
			if !strings.HasPrefix(name, "BenchmarkDynamic/") || n != "8" {
				t.Errorf("%s %s: got %s", release, name, n)
			}
		}
	}
}

const smallObjects = `package m

import "testing"

var (
	one     *byte
	bools   [16]*bool
	eight   *int64
	fifteen *[15]byte
	boxed   interface{}
	texts   [20]string
)

//go:noinline
func bytesOf(i int) []byte { return buf[i%8 : i%8+1+i%9] }

var buf = []byte("0123456789abcdefgh")

func BenchmarkOne(b *testing.B) {
	for i := 0; i < b.N; i++ {
		one = new(byte)
	}
}

func BenchmarkEight(b *testing.B) {
	for i := 0; i < b.N; i++ {
		eight = new(int64)
	}
}

func BenchmarkFifteen(b *testing.B) {
	for i := 0; i < b.N; i++ {
		fifteen = new([15]byte)
	}
}

func BenchmarkSixteenBools(b *testing.B) {
	for i := 0; i < b.N; i++ {
		for j := range bools {
			bools[j] = new(bool)
		}
	}
}

func BenchmarkMixed(b *testing.B) {
	for i := 0; i < b.N; i++ {
		one = new(byte)
		eight = new(int64)
		boxed = i + 1000
		fifteen = new([15]byte)
		boxed = &[4]int{i}
		boxed = int32(i + 2000)
		boxed = [3]int32{int32(i)}
	}
}

func BenchmarkStrings(b *testing.B) {
	for i := 0; i < b.N; i++ {
		for j := range texts {
			texts[j] = string(bytesOf(j))
		}
	}
}

func BenchmarkSmallAndLarge(b *testing.B) {
	for i := 0; i < b.N; i++ {
		one = new(byte)
		boxed = new([500]byte)
	}
}
`

// Go packs objects below 16 bytes that have no pointers into blocks, and its
// profile has the blocks.
func TestSmallObjectsAreCountedExactly(t *testing.T) {
	for _, release := range releases() {
		b, _ := build(t, release, quick, smallObjects)
		got := leafCounts(t, run(t, b, quick))
		// A string of a single byte is not allocated.
		for name, want := range map[string]string{
			"BenchmarkOne": "1", "BenchmarkEight": "1", "BenchmarkFifteen": "1", "BenchmarkSixteenBools": "16", "BenchmarkMixed": "7", "BenchmarkStrings": "17", "BenchmarkSmallAndLarge": "2",
		} {
			if got[name] != want {
				t.Errorf("%s %s: got %q, want %s", release, name, got[name], want)
			}
		}
	}
}
