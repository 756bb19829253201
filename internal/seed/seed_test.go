// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"slices"
	"testing"
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

func TestSampleHasOneCaseOfEachRow(t *testing.T) {
	t.Setenv("NIB_SEED", "7")
	const rows, n = 200, 5
	run, again := Sample(t, n, n), Sample(t, n, n)
	var times [n]int // how often each place in a row was selected
	for range rows {
		selected := 0
		for i := range n {
			r := run()
			if r != again() {
				t.Fatal("two samples with one seed differ")
			}
			if r {
				selected++
				times[i]++
			}
		}
		if selected != 1 {
			t.Fatalf("got %d cases of a row, want 1", selected)
		}
	}
	if slices.Min(times[:]) < rows/n/2 {
		t.Errorf("got places in the rows %v, want about %d each", times, rows/n)
	}
	t.Setenv("NIB_SEED", "random")
	all := Sample(t, n, n)
	for range 2 * n {
		if !all() {
			t.Fatal("a random seed left out a case")
		}
	}
}
