// SPDX-License-Identifier: Apache-2.0

package contract

import "testing"

type traits = TraitSet

type sink struct{ traits }

type wrapper struct{ *sink }

func TestTraitsOfASink(t *testing.T) {
	owned := &sink{}
	owned.traits = TraitsFor(owned, NeverLogs)
	for _, tt := range []struct {
		name string
		sink any
		want Traits
	}{
		{"nil", nil, 0},
		{"without a TraitSet", new(int), 0},
		{"zero TraitSet", new(sink), 0},
		{"owner", owned, NeverLogs},
		{"embeds the owner", wrapper{owned}, 0},
		{"without an owner", &sink{TraitsFor(nil, NeverLogs|TextDurations)}, NeverLogs | TextDurations},
		{"by value", sink{TraitsFor(nil, TextDurations)}, TextDurations},
	} {
		if got := TraitsOf(tt.sink); got != tt.want {
			t.Errorf("%s: got %b, want %b", tt.name, got, tt.want)
		}
	}
}
