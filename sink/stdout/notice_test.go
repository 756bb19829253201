// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

func TestNotice(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 123e6, time.FixedZone("", 3600))
	one := func(c cause, l nib.Level, n uint64) (t tally) {
		t[c][levelIndex(l)] = n
		return t
	}
	both := one(stalled, nib.LevelInfo, 120)
	both[stalled][levelIndex(nib.LevelError)] = 3
	mixed := both
	mixed[gone][levelIndex(nib.LevelInfo)] = 2
	for _, c := range []struct {
		name string
		give tally
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
	var lost tally
	for c := range lost {
		for l := range lost[c] {
			lost[c][l] = math.MaxUint64 / uint64(causes*levels)
		}
	}
	got := appendNotice([]byte{'\n'}, time.Now(), lost)
	if len(got) > noticeSize || !json.Valid(got) {
		t.Errorf("got %d bytes, want at most %d of JSON: %s", len(got), noticeSize, got)
	}
}

func TestLevelsCountAsTheNextLowerNamedOne(t *testing.T) {
	for give, want := range map[nib.Level]nib.Level{
		math.MinInt: nib.LevelTrace, nib.LevelTrace - 1: nib.LevelTrace, nib.LevelTrace: nib.LevelTrace,
		nib.LevelDebug - 1: nib.LevelTrace, nib.LevelInfo: nib.LevelInfo, nib.LevelInfo + 3: nib.LevelInfo,
		nib.LevelError: nib.LevelError, nib.LevelFatal: nib.LevelFatal, math.MaxInt: nib.LevelFatal,
	} {
		if got := levelAt(levelIndex(give)); got != want {
			t.Errorf("%v: got %v, want %v", give, got, want)
		}
	}
}
