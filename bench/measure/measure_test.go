// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

var kept []byte

func TestAllocsIsExactInFractions(t *testing.T) {
	var calls int
	mallocs, bytes := (&Run{Do: func(n int) {
		for range n {
			if calls++; calls%4 == 0 {
				kept = make([]byte, 64)
			}
		}
	}}).Allocs(1000, 5)
	if mallocs != 0.25 || bytes != 16 {
		t.Errorf("got %v mallocs, %v B per operation, want 0.25 and 16", mallocs, bytes)
	}
}

// Preparation is neither counted nor timed, and each round has its own.
func TestEachRoundIsPrepared(t *testing.T) {
	var ready, done int
	c := Run{
		Prepare: func(n int) {
			ready = n
			for range n {
				kept = make([]byte, 64)
			}
		},
		Do: func(n int) {
			if ready != n {
				t.Errorf("prepared for %d operations, want %d", ready, n)
			}
			ready, done = 0, done+n
		},
	}
	if got := Alternate([]Run{c}, Config{Rounds: 3, Ops: 7}); done != 21 || got[0].N != 7 {
		t.Errorf("%d operations, %+v, want 3 rounds of 7", done, got)
	}
	if mallocs, bytes := c.Allocs(1000, 5); mallocs != 0 || bytes != 0 {
		t.Errorf("got %v mallocs, %v B per operation, want none", mallocs, bytes)
	}
}

func TestLatencyPercentilesAreOfTheSortedCalls(t *testing.T) {
	samples := make([]time.Duration, 1000)
	for i := range samples {
		samples[i] = time.Duration(1000 - i)
	}
	want := Latency{N: 1000, P50: 501, P99: 991, P999: 1000, Max: 1000}
	if got := spread(samples); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLatenciesTimesEveryContestantEquallyOften(t *testing.T) {
	var a, b int
	got := Latencies([]Run{{Do: func(n int) { a += n }}, {Do: func(n int) { b += n }}}, 2500)
	if a != b || got[0].N < 2500 || got[0].N != got[1].N {
		t.Errorf("%d and %d operations, %+v", a, b, got)
	}
}

func TestCrewSharesEveryOperation(t *testing.T) {
	for _, size := range []int{1, 2, 8, 64} {
		for _, n := range []int{0, 1, 63, 64, 1000} {
			var ops atomic.Int64
			do, dismiss := crew(size, func(n int) { ops.Add(int64(n)) })
			do(n)
			dismiss()
			if got := ops.Load(); got != int64(n) {
				t.Errorf("crew of %d: %d operations, want %d", size, got, n)
			}
		}
	}
}

// The comparison itself must be able to fail.
func TestVerifyRefuses(t *testing.T) {
	contestant := func(lost error, text string) Contestant {
		return Contestant{Name: "nib", New: func(p Place) Run {
			name := filepath.Join(p.Dir, "app.log")
			do := func(int) { _ = os.WriteFile(name, []byte(text), 0o600) }
			return Run{Do: do, Check: func() error { return lost }}
		}}
	}
	for _, c := range []struct {
		contestant Contestant
		ok         bool
	}{
		{contestant(nil, "line\n"), true},
		{contestant(nil, "line"), false},
		{contestant(nil, ""), false},
		{contestant(errors.New("lost"), "line\n"), false},
	} {
		s := Scenario{Same: Only([]byte("line\n")), Contestants: []Contestant{c.contestant}}
		if err := s.Verify(); (err == nil) != c.ok {
			t.Errorf("got %v, want an error: %v", err, !c.ok)
		}
	}
}

func TestIncompleteSetsAreRefused(t *testing.T) {
	nib, zap := Contestant{Name: "nib"}, Contestant{Name: "zap"}
	good := Scenario{Name: "A", Title: "a", Versus: "zap", Contestants: []Contestant{nib, zap}}
	alone, untitled, double := good, good, good
	alone.Contestants, untitled.Title = []Contestant{nib}, ""
	double.Contestants = []Contestant{nib, zap, zap}
	for i, list := range [][]Scenario{{good}, {good, good}, {alone}, {untitled}, {double}} {
		s := Set{Tables: []Table{{Scenarios: list}}}
		if err := s.Complete(); (err == nil) != (i == 0) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}
