// SPDX-License-Identifier: Apache-2.0

package seed

import "testing"

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
