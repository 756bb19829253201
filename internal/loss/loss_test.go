// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/loss"
)

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
