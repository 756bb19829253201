// SPDX-License-Identifier: Apache-2.0

package alloctest

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// kept makes allocations escape.
var kept any

//go:noinline
func allocate() { kept = new([64]byte) }

// every returns a function that allocates in each nth call.
func every(n int) func() {
	calls := 0
	return func() {
		if calls++; calls%n == 0 {
			allocate()
		}
	}
}

// A recorder is a testing.TB that records its calls.
type recorder struct {
	testing.TB // nil: any method but these is a fault
	errors     []string
	logs       []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}
func (r *recorder) Logf(format string, a ...any) { r.logs = append(r.logs, fmt.Sprintf(format, a...)) }

// onlyCounting skips tests whose subject does not exist in other builds.
func onlyCounting(t *testing.T) {
	if !Enabled {
		t.Skip("allocations are not counted in this build")
	}
}

func TestCountIsExact(t *testing.T) {
	cases := []struct {
		name           string
		f              func()
		mallocs, bytes float64
	}{
		{"none", func() {}, 0, 0},
		{"each call", every(1), 1, 64},
		{"every second call", every(2), 0.5, 32},
		{"every 100th call", every(100), 0.01, 0.64},
		{"three per call", func() { allocate(); allocate(); allocate() }, 3, 192},
		{"small objects that share a block", func() { kept = new(int8); kept = new(int8) }, 2, 0},
	}
	onlyCounting(t)
	for _, c := range cases {
		mallocs, bytes := Count(c.f, 1000)
		if mallocs != c.mallocs {
			t.Errorf("%s: got %v mallocs, want %v", c.name, mallocs, c.mallocs)
		}
		if bytes != c.bytes && c.bytes != 0 {
			t.Errorf("%s: got %v bytes, want %v", c.name, bytes, c.bytes)
		}
	}
}

func TestCountOfNothingIsAlwaysZero(t *testing.T) {
	onlyCounting(t)
	n := 0
	for i := range 1000 {
		if mallocs, bytes := Count(func() { n++ }, 20); mallocs != 0 || bytes != 0 {
			t.Fatalf("repetition %d: got %v mallocs, %v bytes, want 0", i, mallocs, bytes)
		}
	}
}

func TestFirstCallsAreNotCounted(t *testing.T) {
	onlyCounting(t)
	var buffer []byte
	calls := 0
	if mallocs, _ := Count(func() {
		if calls++; calls < 100 {
			buffer = append(buffer, make([]byte, 100)...)
		}
	}, 100); mallocs != 0 {
		t.Errorf("got %v mallocs, want 0", mallocs)
	}
}

// TestCachesThatFillAreNotCounted has one more allocation in each of the first
// windows, like a function with many type assertions, which the runtime caches
// at random.
func TestCachesThatFillAreNotCounted(t *testing.T) {
	onlyCounting(t)
	fills := func() func() {
		calls := 0
		return func() {
			if calls++; calls%100 == 50 && calls < 20*100 {
				allocate()
			}
		}
	}
	f := fills()
	if mallocs, _ := Count(func() { f(); allocate() }, 100); mallocs != 1 {
		t.Errorf("got %v mallocs, want 1", mallocs)
	}
	if mallocs, _ := Count(fills(), 100); mallocs != 0 {
		t.Errorf("got %v mallocs, want 0", mallocs)
	}
}

func TestPoolIsNotEmptiedWhileCounting(t *testing.T) {
	onlyCounting(t)
	pool := sync.Pool{New: func() any { return new([4096]byte) }}
	calls := 0
	mallocs, _ := Count(func() {
		pool.Put(pool.Get())
		if calls++; calls%2 == 0 {
			kept = new([64 << 10]byte) // would make the collector run every few calls
		}
	}, 500)
	if mallocs != 0.5 {
		t.Errorf("got %v mallocs, want 0.5", mallocs)
	}
}

func TestHeapIsBoundedWhileCounting(t *testing.T) {
	var start, m runtime.MemStats
	runtime.ReadMemStats(&start)
	largest := uint64(0)
	calls := 0
	Count(func() {
		kept = make([]byte, 16<<20)
		if calls++; calls%10 == 0 {
			runtime.ReadMemStats(&m)
			largest = max(largest, m.HeapAlloc)
		}
	}, 20)
	kept = nil
	if limit := start.Sys + 2*headroom; largest > limit {
		t.Errorf("got a heap of %d MiB, want at most %d", largest>>20, limit>>20)
	}
}

func TestSettingsAreRestored(t *testing.T) {
	settings := func() [4]int64 {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return [4]int64{int64(runtime.GOMAXPROCS(0)), int64(percent), debug.SetMemoryLimit(-1), int64(runtime.MemProfileRate)}
	}
	want := settings()
	Count(func() {}, 10)
	Zero(&recorder{}, allocate)
	for _, misuse := range []func(){
		func() { Count(func() { panic("on purpose") }, 10) },
		func() { profile(func() { panic("on purpose") }, 10) },
		func() { Count(func() {}, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("got no panic, want one")
				}
			}()
			misuse()
		}()
	}
	if got := settings(); got != want {
		t.Errorf("GOMAXPROCS, GC percent, memory limit, profile rate: got %v, want %v", got, want)
	}
}

func TestZeroPassesWithoutAllocations(t *testing.T) {
	onlyCounting(t)
	n := 0
	var r recorder
	Zero(&r, func() { n++ })
	if len(r.errors)+len(r.logs) != 0 {
		t.Errorf("got %q and %q, want nothing", r.errors, r.logs)
	}
	if want := (windows + 1) * runs; n != want {
		t.Errorf("got %d calls, want %d", n, want)
	}
}

func TestZeroFailsWithTheStack(t *testing.T) {
	onlyCounting(t)
	cases := []struct {
		name  string
		f     func()
		wants []string
	}{
		{"each call", every(1), []string{"got 1 mallocs and 64 bytes per call (1000 in 1000 calls)", "5000 allocations at"}},
		{"every second call", every(2), []string{"got 0.5 mallocs and 32 bytes per call (500 in 1000 calls)", "2500 allocations at"}},
		{"every 700th call", every(700), []string{"got 0.001 mallocs"}},
		{"every 3000th call", every(3000), []string{"occasionally"}},
	}
	for _, c := range cases {
		var r recorder
		Zero(&r, c.f)
		if len(r.errors) != 1 {
			t.Errorf("%s: got errors %q, want one", c.name, r.errors)
			continue
		}
		for _, want := range append(c.wants, "\tgithub.com/nib-log/nib/alloctest.allocate\n\t\t", "alloctest_test.go:", ".every.func") {
			if !strings.Contains(r.errors[0], want) {
				t.Errorf("%s: got %s\nwant %q in it", c.name, r.errors[0], want)
			}
		}
		for _, unwanted := range []string{"alloctest.profiled", "runtime.mallocgc"} {
			if strings.Contains(r.errors[0], unwanted) {
				t.Errorf("%s: got %s\nwant no %q in it", c.name, r.errors[0], unwanted)
			}
		}
	}
}

func TestZeroSeesAllocationsOfOtherGoroutines(t *testing.T) {
	onlyCounting(t)
	var r recorder
	work, done := make(chan bool), make(chan bool)
	go func() {
		for range work {
			allocate()
			done <- true
		}
	}()
	Zero(&r, func() { work <- true; <-done })
	close(work)
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "saw none below f") || !strings.Contains(r.errors[0], "alloctest.allocate") {
		t.Errorf("got %q, want an error with the stack of the other goroutine", r.errors)
	}
}

func TestZeroReportsWhenNothingIsProved(t *testing.T) {
	if Enabled {
		t.Skip("allocations are counted in this build")
	}
	var r recorder
	calls := 0
	Zero(&r, func() { calls++; allocate() })
	if len(r.errors) != 0 || len(r.logs) != 1 || !strings.Contains(r.logs[0], "not counted") {
		t.Errorf("got errors %q and logs %q, want one log that says so", r.errors, r.logs)
	}
	if calls == 0 {
		t.Error("got no call of f, want some")
	}
}

func TestManyStacksAreCutOff(t *testing.T) {
	var f findings
	for i := range maxStacks + 3 {
		f.stacks = append(f.stacks, stack{count: int64(i + 1), frames: fmt.Sprintf("\tplace%d\n", i), own: true})
		f.own += int64(i + 1)
	}
	f.stacks = append(f.stacks, stack{count: 1000, frames: "\tforeign\n"})
	got := f.String()
	if !strings.Contains(got, "11 allocations at\n\tplace10\n10 allocations at\n\tplace9\n") ||
		!strings.Contains(got, "and 3 more stacks\n") || strings.Contains(got, "foreign") {
		t.Errorf("got %s\nwant the %d largest of f and a count of the rest", got, maxStacks)
	}
	if got := (findings{calls: 7}).String(); !strings.Contains(got, "7 more calls saw no stack") {
		t.Errorf("got %q, want it to say that there is no stack", got)
	}
}

// TestWhatTheRuntimeRemembersIsNotCounted asserts the types of many values: the
// runtime caches some of them, now and then.
func TestWhatTheRuntimeRemembersIsNotCounted(t *testing.T) {
	if !Enabled {
		t.Skip("allocations are not counted in this build")
	}
	var values []any
	for n := range 200 {
		values = append(values, reflect.New(reflect.ArrayOf(n, reflect.TypeFor[int]())).Interface())
	}
	found := profile(func() {
		for _, v := range values {
			_, _ = v.(interface{ String() string })
		}
	}, 5000)
	if found.own > 0 {
		t.Errorf("got %d allocations, want none:\n%s", found.own, found)
	}
	if !strings.Contains(found.String(), "runtime.typeAssert") {
		t.Skip("this release or architecture remembers no assertions")
	}
}

// TestRecordsOfWaitingAreNotCounted waits in each call, after another goroutine
// has begun to wait that does not return its record of this to the runtime.
func TestRecordsOfWaitingAreNotCounted(t *testing.T) {
	onlyCounting(t)
	more, ask, answer, end := make(chan bool), make(chan bool), make(chan bool), make(chan bool)
	go func() {
		for range more {
			go func() { <-end }()
		}
	}()
	go func() {
		for range ask {
			answer <- true
		}
	}()
	found := profile(func() {
		more <- true
		runtime.Gosched()
		ask <- true
		<-answer
	}, 500)
	close(more)
	close(ask)
	close(end)
	if found.own > 0 {
		t.Errorf("got %d allocations, want none:\n%s", found.own, found)
	}
}

// TestListOfTimersIsNotCounted starts one of many timers in each call.
func TestListOfTimersIsNotCounted(t *testing.T) {
	onlyCounting(t)
	timers, fired := make([]*time.Timer, 3*runs), make(chan bool)
	for i := range timers { // one at a time, so that the list stays short
		timers[i] = time.AfterFunc(0, func() { fired <- true })
		<-fired
	}
	calls := 0
	found := profile(func() {
		timers[calls].Reset(time.Hour)
		calls++
	}, 2*runs)
	for _, timer := range timers {
		timer.Stop()
	}
	if found.own > 0 {
		t.Errorf("got %d allocations, want none:\n%s", found.own, found)
	}
	if !strings.Contains(found.String(), "addHeap") {
		t.Skip("the list has not grown: an earlier run in this process made it long")
	}
}
