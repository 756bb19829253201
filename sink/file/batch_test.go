// SPDX-License-Identifier: Apache-2.0

package file

import (
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestBatchThatFillsFiles checks that a batch that fills several files takes
// one write for each.
func TestBatchThatFillsFiles(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 1000, Buffer: 10_000, Delay: never})
	writes := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { writes++ }})
	for n := range 95 {
		mustWrite(t, s, record(nib.LevelInfo, n, 100))
	}
	must(t, s.Close())
	checkNumbers(t, memAll(t, m), 95)
	if got := len(memFiles(t, m)); got != 10 || writes != 10 {
		t.Errorf("got %d writes for %d files, want 10", writes, got)
	}
}
