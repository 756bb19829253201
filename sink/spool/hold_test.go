// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestReplacedDirectory removes the directory of a spool, and another process
// creates a spool there. The first process no longer writes or removes anything
// there.
func TestReplacedDirectory(t *testing.T) {
	for _, written := range []bool{false, true} {
		dir := spoolDir(t)
		f := &far{}
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Written: written})
		awaitNext(s)
		must(t, os.RemoveAll(dir))

		f2 := &far{}
		f2.set(down)
		s2 := open(t, dir, f2, Config{SegmentSize: segment.MinSize, Written: written,
			Drain: time.Millisecond})
		for n := range 200 {
			must(t, s2.WriteRecord(record(nib.LevelInfo, n, 1000)))
			awaitNext(s2)
		}

		n := 0
		var err error
		for ; err == nil; n++ {
			err = s.WriteRecord(record(nib.LevelInfo, n, 1000))
		}
		if !errors.Is(err, store.ErrReplaced) {
			t.Errorf("got %v, want to be notified that the directory was removed", err)
		}
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, n-1, 1000)

		_ = s2.Close() // nothing was delivered
		f2.set(nil)
		s2 = open(t, dir, f2, Config{SegmentSize: segment.MinSize})
		must(t, s2.Flush(context.Background()))
		checkLines(t, f2.take(), 0, 200, 1000)
	}
}

// TestRelativeDirectory changes the working directory of a program whose spool
// has a relative name, alone and shared.
func TestRelativeDirectory(t *testing.T) {
	for _, shared := range []bool{false, true} {
		dir, f := spoolDir(t), &far{}
		t.Chdir(filepath.Dir(dir))
		s := open(t, filepath.Base(dir), f, Config{SegmentSize: segment.MinSize, Shared: shared})
		t.Chdir(t.TempDir())
		const total = 200
		for n := range total {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		}
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, total, 1000)
	}
}

// TestLockFileThatIsRemoved removes the lock file again and again, as a cleaner
// of old files: no line is refused, and no other process gets the directory.
func TestLockFileThatIsRemoved(t *testing.T) {
	for _, written := range []bool{false, true} {
		dir, f := spoolDir(t), &far{}
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Written: written})
		const rounds, lines = 4, 100
		for round := range rounds {
			awaitNext(s)
			must(t, os.Remove(filepath.Join(dir, "lock")))
			for n := range lines { // more than a segment has
				must(t, s.WriteRecord(record(nib.LevelInfo, round*lines+n, 1000)))
			}
			awaitNext(s)
			if _, err := Open(dir, &far{}, Config{}); !errors.Is(err, ErrInUse) {
				t.Fatalf("another process: got %v, want %v", err, ErrInUse)
			}
		}
		must(t, s.Close())
		checkLines(t, f.take(), 0, rounds*lines, 1000)
	}
}
