// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// A fakeTB records the reports of a suite.
type fakeTB struct {
	testing.TB // nil: a suite that needs more than is here panics

	mu     sync.Mutex
	faults []string
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// faultsOf runs a suite and returns the faults that it reports.
func faultsOf(suite func(testing.TB)) []string {
	var f fakeTB
	done := make(chan struct{})
	go func() {
		defer close(done)
		suite(&f)
	}()
	<-done
	return f.faults
}

// wantFault checks that a suite has found a fault, and that its report names
// it.
func wantFault(t *testing.T, faults []string, want string) {
	t.Helper()
	for _, f := range faults {
		if strings.Contains(f, want) {
			return
		}
	}
	t.Errorf("the suite did not find the fault:\n got %q\nwant one with %q", faults, want)
}
