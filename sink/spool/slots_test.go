// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
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
