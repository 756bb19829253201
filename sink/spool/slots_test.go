// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// leaveSlots leaves n slots of dead processes, each with a line.
func leaveSlots(t *testing.T, dir string, n int) {
	t.Helper()
	var all []*Sink
	for i := range n {
		s := open(t, dir, nil, shared(Config{}))
		must(t, s.WriteRecord(record(nib.LevelInfo, i, 100)))
		all = append(all, s)
	}
	for _, s := range all {
		must(t, s.Close())
	}
}

// TestFileWithTheNameOfASlotIsNoSlot starts a process in a directory with such
// a file.
func TestFileWithTheNameOfASlotIsNoSlot(t *testing.T) {
	dir, f := spoolDir(t), &far{}
	leaveSlots(t, dir, 3)
	for _, name := range []string{"slot-0004", "slot-0042"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600))
	}
	s := open(t, dir, f, shared(Config{OnError: func(err error) { t.Error(err) }}))
	await.Until(t, "everything is delivered", func() bool { return s.Stats().Delivered == 3 })
	must(t, s.Close())
}

// TestCloseWaitsForAllSlotsAtOnce closes a spool that delivers the maximum
// number of slots of dead processes to a destination that hangs.
func TestCloseWaitsForAllSlotsAtOnce(t *testing.T) {
	dir, f := spoolDir(t), &far{}
	leaveSlots(t, dir, 1+mostSlots)
	end, hanging := make(chan struct{}), atomic.Int32{}
	f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		hanging.Add(1)
		<-end
		return delivery.Result{}, errors.New("text"), true
	})
	s := open(t, dir, newForked(t, f), shared(Config{Drain: time.Nanosecond}))
	await.Until(t, "calls for all slots", func() bool { return hanging.Load() == 1+mostSlots })
	from := time.Now()
	closeDown(t, s)
	// One after the other would take at least as long as all of them.
	if took := time.Since(from); took > (mostSlots+1)*hangs {
		t.Errorf("Close took %v, want about %v", took, 2*hangs)
	}
	close(end)
	<-s.done
}

// TestSlotOfAnotherUserNamesTheRemedy starts in a directory with an unreadable
// slot.
func TestSlotOfAnotherUserNamesTheRemedy(t *testing.T) {
	m := vfstest.NewMem(nil)
	alive := open(t, memDir, nil, shared(Config{fs: m}))
	defer alive.Close()
	m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Path: store.SlotName(1), Err: syscall.EACCES})
	_, err := Open(memDir, nil, shared(Config{fs: m}))
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "run nib relay as that user") {
		t.Errorf("got %v, want an error that says what to do", err)
	}
}
