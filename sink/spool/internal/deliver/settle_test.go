// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestVoidClaimIsCountedOnce voids the claim of a number before and after the
// destination has given up on it.
func TestVoidClaimIsCountedOnce(t *testing.T) {
	const seq = 7
	damaged := func(d *bed) uint64 {
		return d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
	}
	for _, passed := range []bool{false, true} {
		d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
		want := uint64(1)
		d.settle(seq-1, 0)
		if passed {
			d.settle(1, 1)
			want = 0
		}
		d.Void(seq)
		if n := damaged(d); n != 0 || d.Skipped != want {
			t.Errorf("passed=%v: %d lines count as damaged and %d are skipped, want 0 and %d", passed, n, d.Skipped, want)
		}
	}
}

// TestInvalidRejectionsAreIgnored rejects records twice, and ones that are not
// in the batch or not settled.
func TestInvalidRejectionsAreIgnored(t *testing.T) {
	d := newBed(t, vfstest.NewMem(nil), &answers{}, 3, 1)
	d.settleBatch(d.batch[:2], []delivery.Rejection{{Index: -1}, {Index: 1}, {Index: 1}, {Index: 0}, {Index: 2}, {Index: 5000}})
	if n := d.Dropped[segment.CauseRejected][level.Row(int(nib.LevelInfo))]; n != 1 || d.Delivered != 1 || d.Settled != 3 {
		t.Errorf("got %d rejected, %d delivered and position %d, want 1, 1 and 3", n, d.Delivered, d.Settled)
	}
}
