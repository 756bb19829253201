// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestSyncAfterAWriteThatFailed makes writes to a segment fail while the
// destination is down: the lines get other numbers, and Sync, which must not
// wait for the void claims, returns. A loss of power then takes nothing.
func TestSyncAfterAWriteThatFailed(t *testing.T) {
	const lines = 8
	for _, failing := range []int{1, 4, lines - 1} {
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{do: down}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, boot: 1, Drain: 1, OnError: func(error) {}})
			<-s.maker.safe
			awaitNext(s)
			for n := range lines {
				if n == failing {
					must(t, s.Sync(context.Background()))
					m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: syscall.EIO})
				}
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 300)))
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			must(t, s.Sync(ctx))
			after := m.CrashClone(vfstest.Nothing)
			_ = s.Close() // lines are left
			if n := m.Opened(); n > 0 {
				t.Errorf("%d files are open after Close", n)
			}

			f = &far{}
			s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: after, boot: 2})
			must(t, s.Flush(context.Background()))
			checkLines(t, f.take(), 0, lines, 300)
			if st := checkIdentity(t, s); st.Lost() > 0 || st.Unfinished > 0 {
				t.Errorf("got %+v, want nothing lost, and no call that did not return", st)
			}
		})
	}
}

// TestWriteIsTakenBackWithoutADestination lets a write fail after it has
// written a record, and the first attempt to undo that as well. The line is in
// the files once, although no delivery needs the segment any more.
func TestWriteIsTakenBackWithoutADestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}})
		awaitNext(s)
		for n := range 6 {
			if n == 3 {
				m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: syscall.EIO, Done: true})
				m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 2, Err: syscall.EIO})
			}
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 300)))
		}
		await.Sleep(4 * makePause)
		image := m.CrashClone(vfstest.Everything)
		must(t, s.Close())
		if n := m.Opened(); n > 0 {
			t.Errorf("%d files are open after Close", n)
		}
		f := &far{}
		s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: image, Sync: SyncNever})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, 6, 300)
	})
}
