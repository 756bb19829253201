// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/must"
)

const failingBenchmarks = `package m

import (
	"os"
	"runtime"
	"testing"
)

var counted *[3]int

func once(b *testing.B) {
	for i := 0; i < b.N; i++ {
		counted = &[3]int{i}
	}
}

func BenchmarkA(b *testing.B) { once(b) }

func BenchmarkPanics(b *testing.B) { panic("out of cheese") }

func BenchmarkPanicsLater(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if i > 2 {
			panic("later")
		}
	}
}

func BenchmarkFatal(b *testing.B) { b.Fatal("no server") }

func BenchmarkError(b *testing.B) {
	if b.N > 1 {
		b.Error("wrong answer")
	}
}

func BenchmarkSkips(b *testing.B) { b.Skip("not on Sundays") }

func BenchmarkGoexit(b *testing.B) { runtime.Goexit() }

func BenchmarkExits(b *testing.B) { os.Exit(0) }

func BenchmarkExitsWithCode(b *testing.B) { os.Exit(3) }

func BenchmarkElsewhere(b *testing.B) {
	done := make(chan bool)
	go func() {
		defer close(done)
		panic("in a goroutine")
	}()
	<-done
	select {}
}

func BenchmarkSpins(b *testing.B) {
	for {
		counted = nil
	}
}

func BenchmarkBlocks(b *testing.B) { select {} }

func BenchmarkTable(b *testing.B) {
	b.Run("first", once)
	b.Run("panics", func(b *testing.B) { panic("sub") })
	b.Run("exits", func(b *testing.B) { os.Exit(0) })
	b.Run("skips", func(b *testing.B) { b.Skip("sub") })
	b.Run("spins later", func(b *testing.B) {
		for b.N > 1 {
			counted = nil
		}
	})
	b.Run("last", once)
}

func BenchmarkLastExits(b *testing.B) {
	b.Run("first", once)
	b.Run("exits", func(b *testing.B) { os.Exit(0) })
}

func BenchmarkZ(b *testing.B) { once(b) }
`

func TestOneFailureLosesOneLeaf(t *testing.T) {
	o := quick
	o.Budget = 20 * time.Millisecond
	b, _ := build(t, "", o, failingBenchmarks)
	results := run(t, b, o)
	visitedBy(t, b, o, results)
	got := leafCounts(t, results)
	// The runtime finds no deadlock while its scavenger sleeps, and on a busy
	// machine that is longer than a process may wait.
	const hangs = "it hangs: it has waited for"
	got["BenchmarkBlocks"] = strings.Replace(got["BenchmarkBlocks"], hangs, "deadlock", 1)
	for name, want := range map[string]string{
		"BenchmarkA": "1", "BenchmarkZ": "1", "BenchmarkTable/first": "1", "BenchmarkTable/last": "1",
		"BenchmarkPanics": "panic: out of cheese", "BenchmarkPanicsLater": "panic: later", "BenchmarkFatal": "no server",
		"BenchmarkError": "wrong answer", "BenchmarkSkips": "skipped: m_test.go:37: not on Sundays", "BenchmarkGoexit": "the process ended",
		"BenchmarkExits": "os.Exit", "BenchmarkExitsWithCode": "exit", "BenchmarkElsewhere": "in a goroutine",
		"BenchmarkSpins": "too slow to measure", "BenchmarkBlocks": "deadlock", "BenchmarkTable/panics": "panic: sub",
		"BenchmarkTable/exits": "os.Exit", "BenchmarkTable/skips": "skipped", "BenchmarkTable/spins_later": "it hangs: it has used ",
		"BenchmarkLastExits/first": "1", "BenchmarkLastExits/exits": "os.Exit",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("besides: %v", got)
	}
}

func TestAMainThatRunsNothing(t *testing.T) {
	b, _ := build(t, "", quick, `package m

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	switch os.Getenv("MAIN") {
	case "exits":
		os.Exit(0)
	case "fails":
		os.Exit(1)
	case "panics":
		panic("no database")
	}
}

func BenchmarkX(b *testing.B) {}
`)
	for _, main := range []string{"returns", "exits", "fails", "panics"} {
		t.Setenv("MAIN", main)
		results := run(t, b, quick)
		if len(results) != 1 || results[0].Name != "BenchmarkX" || !strings.Contains(results[0].Failed, "it was not run") {
			t.Errorf("%s: got %+v, want one that was not run", main, results)
		}
	}
}

const slowBenchmarks = `package m

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

var some *[4]int
var pool = sync.Pool{New: func() any { return new([9]int) }}
var used uint64

func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func work(d time.Duration) {
	for until := processorTime() + d; d > 0 && processorTime() < until; {
		for n := uint64(0); n < 10_000; n++ {
			used += n * used
		}
	}
}

func slow(b *testing.B, d time.Duration, n int) {
	for i := 0; i < b.N; i++ {
		p := pool.Get()
		work(d)
		for j := 0; j < n; j++ {
			some = &[4]int{j}
		}
		pool.Put(p)
	}
}

func Benchmark25(b *testing.B)   { slow(b, 25*time.Millisecond, 3) }
func Benchmark50(b *testing.B)   { slow(b, 50*time.Millisecond, 0) }
func BenchmarkMany(b *testing.B) { slow(b, 0, 50_000) }
func BenchmarkSetUp(b *testing.B) {
	work(50*time.Millisecond)
	grown := []int{}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if len(grown) < 40 {
			grown = append(grown, i)
		}
		some = &[4]int{i}
	}
}
func BenchmarkSleeps(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Sleep(time.Millisecond)
		some = &[4]int{i}
	}
}
func BenchmarkTooSlow(b *testing.B) { slow(b, 600*time.Millisecond, 1) }
func BenchmarkNeverEnds(b *testing.B) {
	b.Run("never", func(b *testing.B) { slow(b, 1000*time.Second, 1) })
	b.Run("after", func(b *testing.B) { slow(b, 0, 2) })
}
`

// A benchmark without iterations has no count, whatever it allocates once.
func TestSlowIterations(t *testing.T) {
	o := quick
	o.Budget, o.Hang = 20*time.Millisecond, 30*time.Second
	b, _ := build(t, "", o, slowBenchmarks)
	results := run(t, b, o)
	place := b.Place(t.TempDir(), o, nil)
	b.Keep(place, results, Visited{})
	if k, ok := b.Load(place); !ok || len(k.Results) != len(results) {
		const text = "kept: %v, %d results; want all, as another run is too slow, too"
		t.Errorf(text, ok, len(k.Results))
	}
	got := leafCounts(t, results)
	for name, want := range map[string]string{
		"Benchmark25": "3", "Benchmark50": "0", "BenchmarkMany": "50000",
		"BenchmarkSetUp": "1", "BenchmarkSleeps": "1",
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
	for _, name := range []string{"BenchmarkTooSlow", "BenchmarkNeverEnds/never"} {
		if want := "too slow to measure: the first iteration takes more than 0.4 s"; !strings.Contains(got[name], want) {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
	if got := got["BenchmarkNeverEnds/after"]; got != "2" {
		t.Errorf("BenchmarkNeverEnds/after: got %s, want 2", got)
	}
}

const windowBenchmarks = `package m

import (
	"os"
	"testing"
	"time"
)

var some *[4]int
var used uint64

func work(d time.Duration) {
	for n := uint64(0); n < uint64(d); n++ {
		used += n * used
	}
}

var began, _ = os.OpenFile("began", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
var line = make([]byte, 0, 1<<20)

// note allocates nothing.
func note(b *testing.B) {
	line = append(append(line[:0], b.Name()...), ':')
	for i := 0; i < b.N; i++ {
		line = append(line, 'i')
	}
	line = append(line, '\n')
	began.Write(line)
}

func BenchmarkSlow(b *testing.B) {
	note(b)
	for i := 0; i < b.N; i++ {
		work(50 * time.Millisecond)
		some = &[4]int{i}
	}
}

func BenchmarkSlowSetUp(b *testing.B) {
	note(b)
	work(50 * time.Millisecond)
	some = &[4]int{}
	for i := 0; i < b.N; i++ {
		some = &[4]int{i}
	}
}

var grown int

func BenchmarkGrowsOnce(b *testing.B) {
	note(b)
	for i := 0; i < b.N; i++ {
		work(50 * time.Millisecond)
		if grown++; grown == 5 {
			some = &[4]int{i}
		}
	}
}
`

// A slow benchmark runs no more often than its count needs.
func TestSlowBenchmarksRunInFewWindows(t *testing.T) {
	o := quick
	o.Budget, o.Hang = 20*time.Millisecond, 30*time.Second
	b, dir := build(t, "", o, windowBenchmarks)
	results, err := b.Run(t.Context(), o)
	must.Succeed(t, err)
	got := leafCounts(t, results)
	for name, want := range map[string]string{"BenchmarkSlow": "1", "BenchmarkSlowSetUp": "1", "BenchmarkGrowsOnce": "0"} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "began"))
	must.Succeed(t, err)
	for name, want := range map[string]string{
		"BenchmarkSlow": "1 2 3", "BenchmarkSlowSetUp": "1 2 3 n 2n", "BenchmarkGrowsOnce": "1 2 3 2 3",
	} {
		if got := runsOf(string(text), name); got != want {
			t.Errorf("%s: it ran for %s iterations, want %s", name, got, want)
		}
	}
}

// runsOf returns for how many iterations a benchmark ran, with n in the place
// of a number that depends on time.
func runsOf(began, name string) string {
	var out []string
	n := 0
	for _, line := range strings.Fields(began) {
		iterations, ok := strings.CutPrefix(line, name+":")
		if !ok {
			continue
		}
		switch i := len(iterations); {
		case i <= 3:
			out = append(out, fmt.Sprint(i))
		case i == 2*n:
			out = append(out, "2n")
		default:
			out, n = append(out, "n"), i
		}
	}
	return strings.Join(out, " ")
}
