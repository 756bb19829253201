// SPDX-License-Identifier: Apache-2.0

//go:build unix

package runs

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

const timeoutBenchmarks = `package m

import (
	"syscall"
	"testing"
	"time"
)

var counted *[3]int

func used() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkWaits(b *testing.B) {
	if b.N < 3 {
		time.Sleep(1200 * time.Millisecond)
	}
	for i := 0; i < b.N; i++ {
		counted = &[3]int{i}
	}
}

func BenchmarkWorks(b *testing.B) {
	for i := 0; i < b.N; i++ {
		for from := used(); used()-from < 600*time.Millisecond; {
		}
		counted = &[3]int{i}
	}
}

func BenchmarkZ(b *testing.B) {
	for i := 0; i < b.N; i++ {
		counted = &[3]int{i}
	}
}
`

// childrenTime returns the processor time of all processes that have ended.
func childrenTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The waiting takes longer than the timeout, and uses less of the processor.
func TestTheTimeoutIsProcessorTime(t *testing.T) {
	o := quick
	o.Timeout, o.Hang = 2*time.Second, time.Minute
	b, _ := build(t, "", o, timeoutBenchmarks)
	before := childrenTime(t)
	results, err := b.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	took := childrenTime(t) - before
	got := leafCounts(t, results)
	byClock := strings.Contains(got["BenchmarkWorks"]+got["BenchmarkZ"], "times as long") // on a busy machine
	if !byClock && took < o.Timeout {
		t.Errorf("it took %s of a processor", took)
	}
	for name, want := range map[string]string{"BenchmarkWaits": "1", "BenchmarkWorks": "--timeout allows", "BenchmarkZ": "--timeout allows"} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	o.Timeout = time.Minute
	if results, err = b.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	got = leafCounts(t, results)
	for _, name := range []string{"BenchmarkWaits", "BenchmarkWorks", "BenchmarkZ"} {
		if got[name] != "1" {
			t.Errorf("with more time: %s: got %q, want 1", name, got[name])
		}
	}
}
