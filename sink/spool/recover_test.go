// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// memFile returns the contents of a file.
func memFile(t testing.TB, m *vfstest.Mem, name string) []byte {
	t.Helper()
	f, err := m.Open(name, os.O_RDONLY, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	b := make([]byte, info.Size)
	_, _ = f.ReadAt(b, 0) // it may be empty
	must(t, f.Close())
	return b
}

// edit changes the bytes of a file in memDir.
func edit(t testing.TB, m *vfstest.Mem, name string, change func(b []byte)) {
	t.Helper()
	f, err := m.Open(filepath.Join(memDir, name), os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	b := make([]byte, info.Size)
	_, err = f.ReadAt(b, 0)
	must(t, err)
	change(b)
	_, err = f.WriteAt(b, 0)
	must(t, err, f.Close())
}

// A mishap changes the files of a process that was killed.
type mishap struct {
	name string // the file that is gone
	boot uint64
	pick func(int) int
	harm func(t testing.TB, m *vfstest.Mem)
}

// mishaps returns the mishaps of a spool whose last segment has records, and is
// followed by a segment that was created in advance.
func mishaps(last, beforehand uint64) []mishap {
	remove := func(numbers ...uint64) func(t testing.TB, m *vfstest.Mem) {
		return func(t testing.TB, m *vfstest.Mem) {
			for _, n := range numbers {
				must(t, store.Ignore(m.Remove(filepath.Join(memDir, store.SegmentName(n))), fs.ErrNotExist)) // the first one may be gone
			}
		}
	}
	harm := func(number uint64, from, to int) func(t testing.TB, m *vfstest.Mem) {
		return func(t testing.TB, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(number), func(b []byte) { clear(b[from:min(to, len(b))]) })
		}
	}
	return []mishap{
		{"nothing", 1, vfstest.Everything, nil},
		{"the last records", 1, vfstest.Everything, harm(last, segment.HeaderSize+10*256, segment.MinSize)},
		{"all records", 1, vfstest.Everything, harm(last, segment.HeaderSize, segment.MinSize)},
		{"the header", 1, vfstest.Everything, harm(last, 0, segment.HeaderSize)},
		{"the last records, with the power", 2, vfstest.Everything, harm(last, segment.HeaderSize+10*256, segment.MinSize)},
		{"all that was not synced, with the power", 2, vfstest.Nothing, nil},
		{"all that was not synced, with the power, which has deleted a segment before", 2, vfstest.Nothing, remove(last - 1)},
		{"the last segment", 1, vfstest.Everything, remove(last)},
		{"the last segment, with the power", 2, vfstest.Everything, remove(last)},
		{"the start of the last segment", 1, vfstest.Everything, harm(last, 64, segment.MinSize)},
		{"the start of the last segment, with the power", 2, vfstest.Everything, harm(last, 64, segment.MinSize)},
		{"the segment made beforehand", 1, vfstest.Everything, remove(beforehand)},
		{"the header of the segment made beforehand", 1, vfstest.Everything, harm(beforehand, 0, segment.HeaderSize)},
		{"all segments", 1, vfstest.Everything, remove(last, beforehand)},
	}
}

// crashSettled returns the files that a crash leaves once the cursor of the
// destination is at the end: it is written after Flush returns.
func crashSettled(t testing.TB, m *vfstest.Mem, s *Sink, pick func(int) int) *vfstest.Mem {
	t.Helper()
	await.Until(t, "the cursor is written", func() bool {
		c, seq, _, err := cursorOf(m, s.chain.dir.Spool)
		must(t, err, c.File.Close())
		return seq == s.chain.Position()
	})
	return m.CrashClone(pick)
}

// TestIdentitiesAreNeverGivenTwice kills a process that has delivered
// everything, removes files that a crash, a disk or an operator may remove, and
// logs again: each new line arrives, under an identity that no line had before.
func TestIdentitiesAreNeverGivenTwice(t *testing.T) {
	const lines, more = 300, 20 // 247 in the first segment, which is deleted then
	for _, c := range mishaps(2, 3) {
		t.Run(c.name, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{SegmentSize: segment.MinSize, fs: m, boot: 1, Sync: SyncNever}
			s := open(t, memDir, f, conf)
			for n := range lines {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			}
			must(t, s.Flush(context.Background()))
			awaitNext(s)
			given := identitiesOf(f)
			conf.fs, conf.boot = crashSettled(t, m, s, c.pick), c.boot
			must(t, s.Close())
			if c.harm != nil {
				c.harm(t, conf.fs.(*vfstest.Mem))
			}

			f = &far{}
			s = open(t, memDir, f, conf)
			for n := range more {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			}
			must(t, s.Flush(context.Background()))
			got := f.take()
			checkLines(t, got[max(len(got)-more, 0):], 0, more, 200)
			for _, id := range identitiesOf(f)[max(len(got)-more, 0):] {
				if slices.Contains(given, id) {
					t.Errorf("the identity %+v was given again", id)
				}
			}
		})
	}
}

// identitiesOf returns the spools and numbers of the records that f has got.
func identitiesOf(f *far) (ids []store.Position) {
	for i, seq := range f.seqs {
		ids = append(ids, store.Position{Spool: f.ids[i], Seq: seq})
	}
	return ids
}

// TestNumbersAfterAnUnreadableLastSegment kills a process and then damages its
// last segment. The records delivered from there are not in the cursor yet:
// their numbers are not used again.
func TestNumbersAfterAnUnreadableLastSegment(t *testing.T) {
	const lines = 300
	m, f := vfstest.NewMem(nil), &far{}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, both(&far{do: down}, Config{fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {}})) // the other destination keeps the segments
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	for of(t, s.Stats(), defaultName).Pending > 0 {
		s.chain.poke()
	}
	highest := f.seqs[lines-1]
	m = m.CrashClone(vfstest.Everything)
	edit(t, m, store.SegmentName(2), func(b []byte) { clear(b[:segment.HeaderSize]) })
	must(t, m.Remove(filepath.Join(memDir, defaultName+store.CursorExt)))
	f = &far{}
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	must(t, s.WriteRecord(record(nib.LevelInfo, lines, 200)), s.Flush(context.Background()))
	if got := f.seqs[len(f.seqs)-1]; got <= highest {
		t.Errorf("got number %d, and %d was given before", got, highest)
	}
}

// TestUnknownBootCountsAsAnother starts on a system without a boot id: unsynced
// data may be gone.
func TestUnknownBootCountsAsAnother(t *testing.T) {
	m, f := memBacklog(t, 10, 200, SyncNever), &far{}
	edit(t, m, store.SegmentName(1), func(b []byte) {
		id, err := segment.ReadHeader(b)
		must(t, err)
		was := id.Seed()
		id.Boot = 0
		segment.PutHeader(b, id)
		if id.Seed() != was {
			t.Fatal("the checksums of the records depend on the run of the system")
		}
	})
	c := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}.withDefaults(memDir)
	c.boot = 0 // as on a system without one
	s := newSink(c)
	_, err := s.newDelivery(defaultName, f)
	must(t, err)
	s.path = memDir
	must(t, s.open(), s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 10, 200)
	if s.chain.opened < 1+segment.MinSize/segment.RecordHead {
		t.Errorf("numbers begin at %d: a segment of the same size could have had more", s.chain.opened)
	}
}

// TestCopiesGoWithTheirSegments settles the last lines after logging has
// stopped: the copies of the segments deleted then are deleted, too.
func TestCopiesGoWithTheirSegments(t *testing.T) {
	m, f := vfstest.NewMem(nil), &far{do: down}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m})
	for n := range 600 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	must(t, s.Sync(context.Background()))
	await.Until(t, "the copier rests", s.chain.resting.Load)
	f.set(nil)
	must(t, s.Flush(context.Background()))
	await.Until(t, "one copy is left", func() bool { return len(memNames(t, m, store.CopyExt)) <= 1 })
}

// TestDeliverOnlyLeavesAnEmptyDirectoryEmpty opens a directory without lines,
// and one with lines, which are delivered: neither has a segment afterwards.
func TestDeliverOnlyLeavesAnEmptyDirectoryEmpty(t *testing.T) {
	for _, lines := range []int{0, 10} {
		m, f := vfstest.NewMem(nil), &far{}
		if lines > 0 {
			m = memBacklog(t, lines, 200, SyncNever)
		}
		must(t, m.MkdirAll(memDir, 0o700))
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, DeliverOnly: true})
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, lines, 200)
		want := []string{defaultName + store.CursorExt, "lock"}
		if got := memNames(t, m, ""); !slices.Equal(got, want) {
			t.Errorf("%d lines: got the files %q, want %q", lines, got, want)
		}
	}
}

// TestStartReportsWhatItCannotRead has an unreadable page in a spool that is
// opened without a destination: a disk that begins to fail should be replaced
// before data is lost.
func TestStartReportsWhatItCannotRead(t *testing.T) {
	for _, c := range []struct {
		name string
		at   int64
		sync SyncPolicy
	}{
		{store.SegmentName(1), 0, SyncSoon},                                      // the header, which the copy has
		{store.SegmentName(2), segment.HeaderSize + segment.PageSize, SyncNever}, // records of the last segment
	} {
		b := badSector{memBacklog(t, 300, 200, c.sync), c.name, c.at, new(atomic.Bool)}
		b.on.Store(true)
		var reported error
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: b, Sync: SyncNever, OnError: func(err error) { reported = err }})
		must(t, s.Close())
		if st := s.Stats(); st.Errors != 1 || !errors.Is(reported, syscall.EIO) {
			t.Errorf("%s at %d: got %d errors, the last %v, want EIO once", c.name, c.at, st.Errors, reported)
		}
	}
}

// TestCallThatDiedBeforeDroppedSegments kills a process with a call in progress
// whose segment precedes ones dropped by ActionDropOld: that call had not
// returned, and nothing is damaged.
func TestCallThatDiedBeforeDroppedSegments(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {},
		OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
	for n := range 2000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	m = m.CrashClone(vfstest.Everything)
	if before := s.Stats(); before.Lost() == 0 {
		t.Fatalf("got %+v, want lines dropped", before)
	}
	edit(t, m, store.SegmentName(1), func(b []byte) { // the last record of a segment was not committed
		id, err := segment.ReadHeader(b)
		must(t, err)
		for sc, last := segment.NewScanner(b, id, 1), 0; ; {
			at := sc.At
			if _, _, ok := sc.Next(); !ok {
				clear(b[last:at])
				return
			}
			last = at
		}
	})
	s = open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	must(t, s.Flush(context.Background()))
	if st := checkIdentity(t, s); st.Unfinished != 1 || st.Lost() != 0 {
		t.Errorf("got %+v, want one call that did not return, and nothing lost", st)
	}
}
