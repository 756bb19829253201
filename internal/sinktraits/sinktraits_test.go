// SPDX-License-Identifier: Apache-2.0

package sinktraits

import "testing"

type traits = Set

type sink struct{ traits }

type wrapper struct{ *sink }

func TestTraitsOfASink(t *testing.T) {
	owned := &sink{}
	owned.traits = For(owned, NeverLogs)
	for _, tt := range []struct {
		name string
		sink any
		want Traits
	}{
		{"nil", nil, 0},
		{"without a Set", new(int), 0},
		{"zero Set", new(sink), 0},
		{"owner", owned, NeverLogs},
		{"embeds the owner", wrapper{owned}, 0},
		{"without an owner", &sink{For(nil, NeverLogs|TextDurations)}, NeverLogs | TextDurations},
		{"by value", sink{For(nil, TextDurations)}, TextDurations},
	} {
		if got := Of(tt.sink); got != tt.want {
			t.Errorf("%s: got %b, want %b", tt.name, got, tt.want)
		}
	}
}
