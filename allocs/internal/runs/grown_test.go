// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"regexp"
	"runtime"
	"testing"
	"time"
)

// Its set-up takes 80 ms of processor time, and 512 iterations 30 ms.
const growingBenchmark = `package m

import (
	"syscall"
	"testing"
	"time"
)

func used() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func work(d time.Duration) {
	for from := used(); used()-from < d; {
	}
}

func BenchmarkFills(b *testing.B) {
	work(80 * time.Millisecond)
	full := make([]*[3]int, 1000)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		work(60 * time.Microsecond)
		if p := &full[i%len(full)]; *p == nil {
			*p = new([3]int)
		}
	}
}
`

// A table that is full after 1000 operations does not allocate in each,
// whatever its set-up costs.
func TestSetUpIsNotTakenForIterations(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads the processor time of a process as Linux has it")
	}
	o := quick
	o.Budget, o.Hang = 400*time.Millisecond, 30*time.Second
	results := measure(t, o, growingBenchmark)
	if got := leafCounts(t, results)["BenchmarkFills"]; got != "0" {
		t.Errorf("got %s allocations per operation with %d operations, want 0", got, results[0].N)
	}
}

const timedBenchmark = `package m

import "testing"

var made []*int

func BenchmarkReset(b *testing.B) {
	for range b.N {
		made = append(made[:0], new(int))
	}
	b.ResetTimer()
	for range b.N {
		kept = new([2]int)
	}
}

func BenchmarkStopped(b *testing.B) {
	for range b.N {
		b.StopTimer()
		made = append(made[:0], new(int))
		b.StartTimer()
		kept = new([2]int)
	}
}
`

// As with go test, what is allocated counts while the timer runs.
func TestTheTimerDecidesWhatCounts(t *testing.T) {
	o := Options{Bench: regexp.MustCompile("."), Budget: 20 * time.Millisecond}
	results := measure(t, o, timedBenchmark)
	if len(results) != 2 {
		t.Fatalf("got %+v, want two leaves", results)
	}
	for _, r := range results {
		if r.Failed != "" || r.PerOp != 1 || r.Bytes != 16 {
			t.Errorf("%s: got %v allocations with %v bytes, failed %q; want 1 with 16",
				r.Name, r.PerOp, r.Bytes, r.Failed)
		}
	}
}
