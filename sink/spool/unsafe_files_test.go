// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestFilesOfOtherUsersAreRefused gives the directory and each of its files to
// another user, and to root, whose files are accepted.
func TestFilesOfOtherUsersAreRefused(t *testing.T) {
	const lines = 300
	if os.Geteuid() < 0 {
		t.Skip("this system has no user IDs")
	}
	for _, name := range seed.Some(t, 1, []string{"", "lock", store.SegmentName(1), store.SegmentName(2),
		store.CopyName(1), defaultName + store.CursorExt}) {
		m := memBacklog(t, lines, 200, SyncSoon)
		if name == store.CopyName(1) {
			must(t, m.Remove(filepath.Join(memDir, store.SegmentName(1))))
		}
		cursor, err := m.Open(filepath.Join(memDir, defaultName+store.CursorExt),
			os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err, cursor.Close())
		before := memState(t, m)
		m.Chown(filepath.Join(memDir, name), 4242)
		_, err = Open(memDir, &far{}, Config{fs: m})
		if !errors.Is(err, store.ErrUnsafe) || !strings.Contains(err.Error(), "4242") || !strings.Contains(err.Error(), name) {
			t.Errorf("%q of another user: got %v, want ErrUnsafe", name, err)
		}
		if memState(t, m) != before {
			t.Errorf("%q of another user: a file was changed", name)
		}
		m.Chown(filepath.Join(memDir, name), 0)
		f := &far{}
		s := open(t, memDir, f, Config{fs: m})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, lines, 200)
	}
}

// TestStrayFilesStayOutOfSight puts files and directories whose names have
// control characters next to the files of a spool: nothing fails, and none of
// them is shown, reported or removed.
func TestStrayFilesStayOutOfSight(t *testing.T) {
	const evil = "\x1b]0;x\a"
	dir := spoolDir(t)
	var reported []string
	c := Config{SegmentSize: segment.MinSize, OnError: func(err error) { reported = append(reported, err.Error()) }}
	must(t, open(t, dir, nil, c).Close())
	stray := []string{evil + store.CursorExt, evil + store.SegmentExt, evil + store.CopyExt, evil + store.BadExt, evil + store.SegmentExt + store.BadExt,
		evil + store.MadeExt, evil + deliver.RejectedExt, evil, "\xff\xfe" + store.CursorExt}
	for _, name := range stray {
		if os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600) != nil {
			t.Skip("the file system does not take such names")
		}
	}
	must(t, os.MkdirAll(filepath.Join(dir, evil+store.MadeExt+"d"), 0o700))
	s := open(t, dir, &far{}, c)
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()), s.Close())
	v := inspected(t, dir)
	for _, d := range v.Destinations {
		reported = append(reported, d.Name)
	}
	reported = append(append(append(reported, v.Bad...), v.Quarantined...), v.Unread...)
	for _, text := range reported {
		if strings.ContainsAny(text, "\x1b\a") || !utf8.ValidString(text) {
			t.Errorf("%q is shown or reported", text)
		}
	}
	for _, name := range stray {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("a stray file was removed: %v", err)
		}
	}
}

// TestFreeSpaceIsLeftByCopies checks that no copy is made that would leave less
// than MinFree: Sync returns an error, and lines are still accepted.
func TestFreeSpaceIsLeftByCopies(t *testing.T) {
	m := vfstest.NewMem(nil)
	f := &far{do: down}
	m.SetFree(100 * segment.MinSize)
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, MinFree: 90 * segment.MinSize, Drain: 1})
	awaitNext(s)
	m.SetFree(90*segment.MinSize + 100)
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
	if err := s.Sync(context.Background()); !errors.Is(err, errUnsynced) {
		t.Errorf("got %v, want errUnsynced", err)
	}
	if names := memNames(t, m, store.CopyExt); len(names) > 0 {
		t.Errorf("got the copies %q", names)
	}
	m.SetFree(95 * segment.MinSize)
	for s.Sync(context.Background()) != nil {
	}
	if names := memNames(t, m, store.CopyExt); len(names) != 1 {
		t.Errorf("got the copies %q when there is room again, want one", names)
	}
}
