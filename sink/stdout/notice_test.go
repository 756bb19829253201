// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

func TestNotice(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 123e6, time.FixedZone("", 3600))
	one := func(c cause, l nib.Level, n uint64) (t loss.Tally) {
		t[c][level.Row(int(l))] = n
		return t
	}
	both := one(stalled, nib.LevelInfo, 120)
	both[stalled][level.Row(int(nib.LevelError))] = 3
	mixed := both
	mixed[gone][level.Row(int(nib.LevelInfo))] = 2
	for _, c := range []struct {
		name string
		give loss.Tally
		want string
	}{
		{"one level", one(stalled, nib.LevelTrace, 1), `{"time":"2026-11-21T09:30:00.123Z","level":"warn","message":"lines lost: standard output was blocked","dropped":1,"levels":{"trace":1},"reasons":{"stalled":1}}`},
		{"two levels", both, `{"time":"2026-11-21T09:30:00.123Z","level":"warn","message":"lines lost: standard output was blocked","dropped":123,"levels":{"info":120,"error":3},"reasons":{"stalled":123}}`},
		{"two reasons", mixed, `{"time":"2026-11-21T09:30:00.123Z","level":"warn","message":"lines lost: standard output could not be written","dropped":125,"levels":{"info":122,"error":3},"reasons":{"stalled":123,"gone":2}}`},
	} {
		got := appendNotice(nil, now, c.give)
		if string(got) != c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s", c.name, got)
		}
	}
}

func TestLongestNoticeFits(t *testing.T) {
	var lost loss.Tally
	for c := range lost {
		for l := range lost[c] {
			lost[c][l] = math.MaxUint64 / (uint64(causes) * uint64(level.Count))
		}
	}
	got := appendNotice([]byte{'\n'}, time.Now(), lost)
	if len(got) > noticeSize || !json.Valid(got) {
		t.Errorf("got %d bytes, want at most %d of JSON: %s", len(got), noticeSize, got)
	}
}
