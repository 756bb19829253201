// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestPausesGrowBetweenSyncs has a destination that requires a sync of its mark
// before each failure: the pauses between attempts still grow.
func TestPausesGrowBetweenSyncs(t *testing.T) {
	c := &clerk{}
	s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: vfstest.NewMem(nil), tick: time.Microsecond})
	var pause time.Duration
	calls := 0
	c.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		pause = max(pause, s.deliveries[0].Pause)
		switch calls++; {
		case calls > 12:
			return delivery.Result{Accepted: 1}, nil, false
		case calls%2 == 1:
			c.syncs = 1
			return delivery.Result{}, nil, true
		}
		return delivery.Result{}, errDown, true
	})
	must(t, s.WriteRecord(record(0, 0, 60)), s.Flush(context.Background()))
	if want := 32 * time.Microsecond; pause != want {
		t.Errorf("got a pause of %v after six failures, want %v", pause, want)
	}
	if got := s.deliveries[0].Failures; got != 6 {
		t.Errorf("got %d failures, want 6", got)
	}
}
