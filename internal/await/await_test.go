// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package await

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A failed is a test whose failure is noted.
type failed struct {
	testing.TB
	text string
}

func (f *failed) Helper() {}

func (f *failed) Fatalf(format string, args ...any) {
	f.text = format
	panic(f)
}

func TestUntilReturnsWhenTheConditionHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		Until(t, "a minute has passed", func() bool { return time.Since(begin) >= time.Minute })
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("took %v, want a minute", took)
		}
	})
}

func TestUntilFailsTheTestInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, begin := &failed{TB: t}, time.Now()
		func() {
			defer func() { _ = recover() }()
			Until(f, "never", func() bool { return false })
		}()
		if took := time.Since(begin); took < limit || !strings.Contains(f.text, "timed out") {
			t.Errorf("got %q after %v, want a failure after %v", f.text, took, limit)
		}
	})
}

func TestSleepWaitsForTimersThatEndWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		for range 100 {
			go func() {
				time.Sleep(time.Second)
				runtime.Gosched()
				n++
			}()
			Sleep(time.Second)
		}
		if n != 100 {
			t.Errorf("%d of 100 goroutines have gone on", n)
		}
	})
}

func TestGoroutinesRunAtOnce(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	var calls [3]atomic.Int32
	Goroutines(3, func(i int) {
		all.Done()
		all.Wait()
		calls[i].Add(1)
	})
	for i := range calls {
		if n := calls[i].Load(); n != 1 {
			t.Errorf("got %d calls with %d, want 1", n, i)
		}
	}
}
