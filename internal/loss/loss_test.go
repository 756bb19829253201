// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

type reason string

func TestNotice(t *testing.T) {
	lost := make([]loss.Levels, 3)
	lost[0][level.Row(0)] = 3
	lost[2][level.Row(8)] = 1<<64 - 4
	got := loss.AppendNotice([]byte("head\n"), time.Date(2026, 11, 21, 10, 30, 0, 123e6, time.FixedZone("", 3600)), "gone",
		[]reason{"full", "closed", "failed"}, lost)
	want := "head\n" + `{"time":"2026-11-21T09:30:00.123Z","level":"warn","message":"lines lost: gone","dropped":18446744073709551615,` +
		`"levels":{"info":3,"error":18446744073709551612},"reasons":{"full":3,"failed":18446744073709551612}}` + "\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTallyListsWhatWasDroppedSince(t *testing.T) {
	var lost, reported loss.Tally
	lost[0][1], lost[1][6], lost[1][0] = 5, 7, 2
	reported[0][1], reported[1][0] = 4, 2
	since := lost.Minus(reported)
	got := since.Drops([]delivery.Reason{delivery.ReasonFull, delivery.ReasonGone})
	want := []delivery.Drop{
		{Reason: delivery.ReasonFull, Level: nib.LevelDebug, Lines: 1},
		{Reason: delivery.ReasonGone, Level: nib.LevelFatal, Lines: 7},
	}
	if !slices.Equal(got, want) || loss.Sum(got) != 8 {
		t.Errorf("got %v, %d lines, want %v", got, loss.Sum(got), want)
	}
}
