// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

func TestEachAndSubtract(t *testing.T) {
	lost, told := make([]loss.Levels, 2), make([]loss.Levels, 2)
	lost[0][1], lost[1][6], lost[1][0] = 5, 7, 2
	told[0][1], told[1][0] = 4, 2
	loss.Subtract(lost, told)
	var got []string
	loss.Each(lost, func(cause, level int, n uint64) { got = append(got, fmt.Sprint(cause, level, n)) })
	if want := []string{"0 -4 1", "1 16 7"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
