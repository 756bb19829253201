// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/retry"
)

// TestPausesGrow makes a destination fail often: the pauses double, within
// their random part, up to the longest, and start over after a success.
func TestPausesGrow(t *testing.T) {
	d := New(emptyChain(), nil, Options{Context: context.Background(), Tick: time.Nanosecond}, nil)
	want := time.Nanosecond
	for range 12 {
		d.wait()
		if d.Pause != retry.Pause(want) {
			t.Fatalf("got a pause of %v, want %v", d.Pause, want)
		}
		want *= 2
	}
	d.Pause = retry.Pause(LongestPause)
	d.Urge()
	d.wait()
	if d.Pause != retry.Pause(LongestPause) {
		t.Errorf("got a pause of %v, want %v from then on", d.Pause, LongestPause)
	}
}
