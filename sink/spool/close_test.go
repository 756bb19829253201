// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// reports keeps the errors that OnError was called with.
type reports struct {
	mu   sync.Mutex
	list []string
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, err.Error())
}

// with returns how many reports have a text.
func (r *reports) with(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.list {
		if strings.Contains(x, text) {
			n++
		}
	}
	return n
}

// TestErrorsOfCloseAreReported has a system that reports failed writes only
// when a file is closed, as NFS does.
func TestErrorsOfCloseAreReported(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"*" + store.SegmentExt + "*", "close a segment"},
		{"*" + store.CursorExt, "close the cursor"},
		{"*" + store.CopyExt + "*", "close a copy"},
	} {
		t.Run(c.want, func(t *testing.T) {
			m, reported := vfstest.NewMem(nil), &reports{}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 16 * segment.MinSize, fs: m, Drain: time.Millisecond, OnError: reported.add})
			m.Fail(vfstest.Fault{Op: vfstest.OpClose, Path: c.path, Err: syscall.EIO})
			for n := range 200 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			}
			must(t, s.Sync(context.Background()))
			_ = s.Close() // lines are left
			<-s.done
			if st, n := checkIdentity(t, s), reported.with(c.want); n == 0 || uint64(n) != st.Errors {
				t.Errorf("%d reports of %q, %d errors; want each file reported and counted: %q", n, c.want, st.Errors, reported.list)
			}
		})
	}
}

// TestDropOldReportsWhatItCannotRead has an oldest segment that cannot be read.
// It cannot be dropped, because its lines would not be counted.
func TestDropOldReportsWhatItCannotRead(t *testing.T) {
	m, reported := memBacklog(t, 300, 300, SyncNever), &reports{}
	s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 3 * segment.MinSize, fs: m, Sync: SyncNever, slow: time.Millisecond,
		Drain: time.Millisecond, OnError: reported.add, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
	awaitNext(s) // later calls would not wait for it
	m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "*" + store.SegmentExt, Err: syscall.EMFILE})
	refused := 0
	for n := 0; n < 1000 || reported.with("to drop it") == 0; n++ {
		if s.WriteRecord(record(nib.LevelInfo, n, 300)) != nil {
			refused++
		}
	}
	_ = s.Close() // lines are left
	<-s.done
	st := checkIdentity(t, s)
	if n := reported.with("to drop it"); n != 1 {
		t.Errorf("%d reports, want one: %q", n, reported.list)
	}
	if st.Errors == 0 || st.Lost() != uint64(refused) || refused == 0 {
		t.Errorf("%d lines were refused, got %+v", refused, st)
	}
}
