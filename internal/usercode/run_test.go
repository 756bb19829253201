// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
)

// long is a wait that no test reaches unless it fails.
const long = time.Minute

func TestRunReturnsWhenTheFunctionHas(t *testing.T) {
	ran := false
	if !Run(func() { ran = true }, long) || !ran {
		t.Errorf("got ran = %v, want true", ran)
	}
}

func TestRunGivesUpOnAFunctionThatWantsTheCallersLock(t *testing.T) {
	var mu sync.Mutex
	done := make(chan struct{})
	mu.Lock()
	ok := Run(func() {
		mu.Lock()
		defer mu.Unlock()
		close(done)
	}, time.Millisecond)
	mu.Unlock()
	<-done
	if !ok {
		t.Error("got false, want true")
	}
}

func TestRunWithinRunDoesNotWait(t *testing.T) {
	release, done := make(chan struct{}), make(chan struct{})
	Run(func() {
		Run(func() {
			<-release
			close(done)
		}, long)
	}, long)
	close(release)
	<-done
}

func TestRunRefusesWorkThatIsNestedTooDeep(t *testing.T) {
	depths := make(chan int, 100)
	var work func(depth int)
	work = func(depth int) {
		if !Run(func() { work(depth + 1) }, long) {
			depths <- depth
		}
	}
	work(0)
	if got := <-depths; got != maxRunDepth+1 {
		t.Errorf("got refused at depth %d, want %d", got, maxRunDepth+1)
	}
}

func TestRunRefusesMoreThanALimitAtOnce(t *testing.T) {
	await.Until(t, "the functions of other tests are discounted", func() bool { return running.Load() == 0 })
	release := make(chan struct{})
	var group sync.WaitGroup
	for i := range maxRunning {
		group.Add(1)
		if !Run(func() {
			defer group.Done()
			<-release
		}, 0) {
			t.Fatalf("refused number %d, want %d to be taken", i, maxRunning)
		}
	}
	if Run(func() {}, long) {
		t.Error("got true, want false")
	}
	close(release)
	group.Wait()
	await.Until(t, "those that have returned are discounted", func() bool { return running.Load() == 0 })
	if !Run(func() {}, long) {
		t.Error("got false once all had returned, want true")
	}
}

func TestRunOutlivesAFunctionThatEndsItsGoroutine(t *testing.T) {
	if !Run(runtime.Goexit, long) {
		t.Error("got false, want true")
	}
}
