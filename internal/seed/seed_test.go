// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"slices"
	"strconv"
	"testing"

	"github.com/nib-log/nib/internal/invariants"
)

func TestSeed(t *testing.T) {
	for text, want := range map[string]uint64{"": 1, "7": 7, "18446744073709551615": 1<<64 - 1} {
		if got, err := parse(text); got != want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"seven", "-1", "1.5"} {
		if got, err := parse(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	first, err := parse("random")
	second, err2 := parse("random")
	if first == second || err != nil || err2 != nil {
		t.Errorf("random: got %d, %v and %d, %v, want two seeds", first, err, second, err2)
	}
}

func TestTimes(t *testing.T) {
	t.Setenv("NIB_E2E", "")
	t.Setenv("NIB_SEED", "7")
	want := 50
	switch {
	case testing.Short() && invariants.Enabled:
		want = 20 / fewer
	case testing.Short():
		want = 20
	}
	if got := Times(100, 50, 20); got != want {
		t.Errorf("got %d cases, want %d", got, want)
	}
	if got := Times(100, 50, 1); testing.Short() && got != 1 {
		t.Errorf("got %d cases of one, want 1", got)
	}
	t.Setenv("NIB_SEED", "random")
	if !testing.Short() {
		want = 100
	}
	if got := Times(100, 50, 20); got != want {
		t.Errorf("with a random seed: got %d cases, want %d", got, want)
	}
}

func TestSampleHasOneCaseOfEachRow(t *testing.T) {
	t.Setenv("NIB_E2E", "")
	t.Setenv("NIB_SEED", "7")
	const rows, n = 200, 5
	long := n // of a row
	if testing.Short() && invariants.Enabled {
		long *= fewer
	}
	run, again := Sample(t, n, n), Sample(t, n, n)
	var times [n]int // how often each place in a row was selected
	for range rows {
		selected := 0
		for i := range long {
			r := run()
			if r != again() {
				t.Fatal("two samples with one seed differ")
			}
			if r {
				selected++
				times[i%n]++
			}
		}
		if selected != 1 {
			t.Fatalf("got %d cases of a row, want 1", selected)
		}
	}
	if slices.Min(times[:]) < rows/n/2 {
		t.Errorf("got places in the rows %v, want about %d each", times, rows/n)
	}
}

func TestSampleOfAShortListHasACase(t *testing.T) {
	t.Setenv("NIB_E2E", "")
	for s := range 100 {
		t.Setenv("NIB_SEED", strconv.Itoa(s))
		run, selected := Sample(t, 1000, 1000), 0
		for range 4 {
			if run() {
				selected++
			}
		}
		if selected != 1 {
			t.Errorf("seed %d: got %d cases of four, want 1", s, selected)
		}
	}
}

func TestSomeHasAnElement(t *testing.T) {
	t.Setenv("NIB_E2E", "")
	list := []int{0, 1, 2}
	var times [3]int
	for s := range 100 {
		t.Setenv("NIB_SEED", strconv.Itoa(s))
		some := Some(t, 3, list)
		if want := map[bool]int{true: 1, false: 3}[testing.Short()]; len(some) != want {
			t.Fatalf("seed %d: got %v, want %d", s, some, want)
		}
		for _, i := range some {
			times[i]++
		}
	}
	if slices.Min(times[:]) < 10 || !slices.Equal(list, []int{0, 1, 2}) {
		t.Errorf("got elements %v times, and the list is %v", times, list)
	}
}

func TestSampleOfAll(t *testing.T) {
	for name, value := range map[string]string{"NIB_SEED": "random", "NIB_E2E": "full"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			run, all := Sample(t, 5, 5), !testing.Short()
			for range 10 {
				if all && !run() {
					t.Fatal("a case was left out")
				}
			}
			if All() != all {
				t.Errorf("All: got %v, want %v", All(), all)
			}
		})
	}
}
