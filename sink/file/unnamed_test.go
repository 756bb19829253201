// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestDeliverWithoutAName has a directory that cannot be synced. A batch must
// not be written repeatedly while that lasts.
func TestDeliverWithoutAName(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpSyncDir, Err: syscall.EIO})
	for range 10 {
		if res, err := s.Deliver(context.Background(), batchOf(0, 5)); !errors.Is(err, syscall.EIO) || res.Accepted != 0 {
			t.Errorf("got %+v, %v, want nothing and EIO", res, err)
		}
	}
	heal()
	if res, err := s.Deliver(context.Background(), batchOf(0, 5)); err != nil || res.Accepted != 5 {
		t.Errorf("afterwards: got %+v, %v, want 5", res, err)
	}
	checkNumbers(t, memAll(t, m.CrashClone(vfstest.Nothing)), 5)
}
