// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package sampling_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/sampling"
)

func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sampling.Burst(3, time.Second, sampling.Every(4))
		for _, want := range []string{"++++---+", "+++---+-", "+++--+--"} {
			if got := kept(s, nib.LevelInfo, 8); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			await.Sleep(time.Second)
		}
		if got := kept(sampling.Burst(2, time.Hour, nil), nib.LevelInfo, 5); got != "++---" {
			t.Errorf("without another sampler: got %s, want ++---", got)
		}
		if got := kept(sampling.Burst(-1, time.Hour, nil), nib.LevelInfo, 3); got != "---" {
			t.Errorf("Burst(-1): got %s, want ---", got)
		}
	})
}
