// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// passing are the errors of a file that may be readable a moment later.
var passing = []error{syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ESTALE, syscall.EINTR, syscall.EACCES}

// memBacklog returns a file system with a spool of lines of size bytes: of 200,
// 247 are in a segment.
func memBacklog(t testing.TB, lines, size int, sync SyncPolicy) *vfstest.Mem {
	t.Helper()
	m := vfstest.NewMem(nil)
	s, err := Open(memDir, nil, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m, Sync: sync, slow: eventTimeout})
	must(t, err)
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, size)))
	}
	if sync != SyncNever {
		must(t, s.Sync(context.Background()))
	}
	must(t, s.Close())
	<-s.done
	return m
}

// memState returns the contents of memDir, except the lock.
func memState(t testing.TB, m *vfstest.Mem) string {
	t.Helper()
	names, err := m.ReadDir(memDir)
	must(t, err)
	var b strings.Builder
	for _, name := range names {
		f, err := m.Open(filepath.Join(memDir, name), os.O_RDONLY, 0)
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		data := make([]byte, info.Size)
		_, _ = f.ReadAt(data, 0) // it may be empty
		must(t, f.Close())
		if name != "lock" && len(data) > 0 {
			fmt.Fprintf(&b, "%s %q\n", name, data)
		}
	}
	return b.String()
}

// TestBacklogThatCannotBeReadNow makes the files of a backlog fail, in each
// way, a few times during the delivery: all of it is delivered, and nothing is
// counted as lost.
func TestBacklogThatCannotBeReadNow(t *testing.T) {
	const lines = 1000
	for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpRead, vfstest.OpStat} {
		for _, errno := range passing {
			t.Run(fmt.Sprintf("%s %v", op, errno), func(t *testing.T) {
				m := memBacklog(t, lines, 200, SyncNever)
				f, failed := &far{}, atomic.Int32{}
				var once sync.Once
				f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
					once.Do(func() { // the first segment has been read
						m.Fail(vfstest.Fault{Op: op, Path: "*.seg", Times: 12, Err: errno, Reached: func() { failed.Add(1) }})
					})
					return delivery.Result{Accepted: len(batch)}, nil, false
				})
				reported := make(chan error, 1)
				s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m, Sync: SyncNever, tick: time.Microsecond,
					OnError: func(err error) {
						select {
						case reported <- err:
						default:
						}
					}})
				must(t, s.Flush(context.Background()))
				checkLines(t, f.take(), 0, lines, 200)
				st := checkIdentity(t, s)
				if st.Delivered != lines || st.Recovered != lines || st.Bad != 0 || st.Errors == 0 || failed.Load() < 12 {
					t.Errorf("after %d failures: got %+v, want all delivered", failed.Load(), st)
				}
				if err := <-reported; !errors.Is(err, errno) {
					t.Errorf("OnError got %v, want %v", err, errno)
				}
			})
		}
	}
}

// TestStartThatCannotReadFails makes each call of a start fail. Either Open
// fails with that error and has changed nothing, or it succeeds; afterwards
// each line is delivered once, and no number is used twice.
func TestStartThatCannotReadFails(t *testing.T) {
	ops := []vfstest.Op{vfstest.OpOpen, vfstest.OpCreate, vfstest.OpRead, vfstest.OpStat, vfstest.OpReadDir, vfstest.OpLstat, vfstest.OpLock, vfstest.OpMkdir}
	const lines = 300
	selected, cases, refused := seed.Sample(t, 4, 8), 0, 0
	for _, op := range ops {
		for _, errno := range []error{syscall.EIO, syscall.EMFILE} {
			for _, times := range []int{1, 0} {
				for skip := range 8 {
					if !selected() {
						continue
					}
					cases++
					m, f := memBacklog(t, lines, 200, SyncNever), &far{do: down}
					before := memState(t, m)
					heal := m.Fail(vfstest.Fault{Op: op, Skip: skip, Times: times, Err: errno})
					s, err := Open(memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, Drain: 1})
					next := lines
					if err == nil {
						if s.WriteRecord(record(nib.LevelInfo, lines, 200)) == nil {
							next++
						}
						_ = s.Close() // lines are left
						<-s.done
					} else {
						heal()
						refused++
						if !errors.Is(err, errno) {
							t.Errorf("Open failed with %v, want %v", err, errno)
						}
						if got := memState(t, m); op != vfstest.OpCreate && got != before {
							t.Error("Open failed, and has changed a file")
						}
					}
					heal()
					if n := m.Opened(); n > 0 {
						t.Errorf("%d files are open after Close, or after an Open that failed", n)
					}
					f.set(nil)
					s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
					must(t, s.Flush(context.Background()))
					if st := s.Stats(); st.Bad > 0 {
						t.Errorf("a file was quarantined: %+v", st)
					}
					checkLines(t, f.take(), 0, next, 200)
					for i, seq := range f.seqs {
						if i > 0 && seq <= f.seqs[i-1] {
							t.Errorf("number %d after %d", seq, f.seqs[i-1])
						}
					}
					if t.Failed() {
						t.Fatalf("%s fails with %v after %d calls, %d times (0: always)", op, errno, skip, times)
					}
				}
			}
		}
	}
	if refused*6 < cases && !testing.Short() {
		t.Errorf("Open failed in %d of %d cases only", refused, cases)
	}
}

// TestOpenThatFailsHidesNoDamage makes each call of Open fail, in a directory
// with a damaged file and losses that may have notices. The next Open counts
// the file, and has all lines. Until the notices are read, nothing is changed.
func TestOpenThatFailsHidesNoDamage(t *testing.T) {
	failed := map[vfstest.Op]int{}
	for n, last := 0, false; !last; n++ {
		m := damagedBacklog(t, damagedLines)
		before := memState(t, m)
		calls, notices := 0, false
		var op vfstest.Op
		fits := func(o vfstest.Op, base string) bool {
			if calls++; calls != n+1 {
				return false
			}
			op, notices = o, o == vfstest.OpOpen && base == store.SegmentName(1)
			return true
		}
		heal := m.Fail(vfstest.Fault{Err: syscall.EMFILE, Fits: fits})
		c := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
		s, err := Open(memDir, &far{}, c)
		heal()
		if err == nil {
			must(t, s.Close())
			last = calls <= n
			continue
		}
		failed[op]++
		if notices && memState(t, m) != before {
			t.Errorf("call %d, %s: Open failed with %v, and has changed a file", n, op, err)
		}
		f := &far{}
		s = open(t, memDir, f, c)
		must(t, s.Flush(context.Background()))
		if st := s.Stats(); st.Bad != 1 || st.Delivered < damagedLines {
			t.Errorf("call %d, %s: after %v got %+v, want all lines, and one file quarantined",
				n, op, err, st)
		}
		must(t, s.Close())
	}
	if failed[vfstest.OpOpen] < 3 || failed[vfstest.OpCreate]*failed[vfstest.OpPreallocate] == 0 {
		t.Errorf("Open failed at the calls %v, want some of each kind", failed)
	}
}

// damagedLines is the number of lines of a damagedBacklog.
const damagedLines = 300

// damagedBacklog returns a file system with a backlog, a file whose header is
// damaged, and a cursor with losses.
func damagedBacklog(t *testing.T, lines int) *vfstest.Mem {
	m := memBacklog(t, lines, 200, SyncNever)
	v, err := inspect(m, memDir)
	must(t, err)
	cursor, _, _, err := cursorOf(m, v.ID)
	must(t, err)
	var lost store.Losses
	lost.Lines.Add(segment.CauseOldest, nib.LevelInfo, 5)
	must(t, cursor.Put(store.Position{Spool: v.ID, Seq: 1}, &lost), cursor.File.Close())
	name := filepath.Join(memDir, store.SegmentName(9))
	damaged, err := m.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = damaged.WriteAt([]byte("no header"), 0)
	must(t, err, damaged.Close())
	return m
}

// A badSector is a file system with a page of a file that cannot be read while
// on is true.
type badSector struct {
	vfs.FS
	name string
	at   int64
	on   *atomic.Bool
}

type badSectorFile struct {
	vfs.File
	b badSector
}

func (b badSector) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := b.FS.Open(name, flag, perm)
	if err != nil || filepath.Base(name) != b.name {
		return f, err
	}
	return badSectorFile{f, b}, nil
}

func (f badSectorFile) ReadAt(p []byte, at int64) (int, error) {
	if f.b.on.Load() && at < f.b.at+segment.PageSize && at+int64(len(p)) > f.b.at {
		return 0, syscall.EIO
	}
	return f.File.ReadAt(p, at)
}

// TestSectorThatComesBack has an unreadable page while a spool is opened and
// lines are logged. When the page can be read again, all lines are there, in
// order, and no number was used twice.
func TestSectorThatComesBack(t *testing.T) {
	const lines = 300 // 247 in the first segment
	for _, c := range []struct {
		name string
		at   int64
	}{
		{store.SegmentName(1), segment.HeaderSize + 2*segment.PageSize},
		{store.SegmentName(2), segment.HeaderSize + segment.PageSize},   // in records of the last segment
		{store.SegmentName(2), segment.HeaderSize + 3*segment.PageSize}, // the last of these
		{store.SegmentName(2), segment.HeaderSize},                      // the first of these
		{store.SegmentName(2), segment.MinSize - 2*segment.PageSize},    // after them
	} {
		t.Run(fmt.Sprint(c.name, c.at), func(t *testing.T) {
			b := badSector{memBacklog(t, lines, 200, SyncNever), c.name, c.at, new(atomic.Bool)}
			f := &far{}
			b.on.Store(true)
			for round := range 2 { // the second start no longer reads the last number of that segment
				s, err := Open(memDir, f, Config{SegmentSize: segment.MinSize, fs: b, Sync: SyncNever, tick: time.Microsecond, Drain: 1})
				must(t, err)
				must(t, s.WriteRecord(record(nib.LevelInfo, lines+round, 200)))
				if err := s.Close(); !errors.Is(err, ErrPending) {
					t.Errorf("got %v, want ErrPending", err)
				}
				<-s.done
				checkIdentity(t, s)
			}
			b.on.Store(false)
			s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: b, Sync: SyncNever})
			must(t, s.Flush(context.Background()))
			checkLines(t, f.take(), 0, lines+2, 200)
			for i := 1; i < len(f.seqs); i++ {
				if f.seqs[i] <= f.seqs[i-1] {
					t.Errorf("number %d after %d", f.seqs[i], f.seqs[i-1])
				}
			}
			if st := checkIdentity(t, s); st.Bad > 0 || st.Lost() > 0 || st.Unfinished > 0 || st.Pending > 0 {
				t.Errorf("got %+v, want nothing lost", st)
			}
		})
	}
}

// TestCopyStandsInForABadSector has a permanently unreadable page in a segment
// whose copy has the lines.
func TestCopyStandsInForABadSector(t *testing.T) {
	const lines = 300
	for _, at := range []int64{0, segment.HeaderSize + segment.PageSize} {
		b := badSector{memBacklog(t, lines, 200, SyncSoon), store.SegmentName(1), at, new(atomic.Bool)}
		b.on.Store(true)
		f := &far{}
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: b, tick: time.Microsecond})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, lines, 200)
	}
}

// TestLaterVersionIsLeftAlone opens a spool with a file of a future version.
func TestLaterVersionIsLeftAlone(t *testing.T) {
	for _, name := range []string{store.SegmentName(1), store.SegmentName(2), store.CopyName(2),
		defaultName + ".cursor"} {
		t.Run(name, func(t *testing.T) {
			m := memBacklog(t, 300, 200, SyncSoon)
			if name == store.CopyName(2) {
				must(t, m.Remove(filepath.Join(memDir, store.SegmentName(2))))
			}
			f, err := m.Open(filepath.Join(memDir, name), os.O_RDWR|os.O_CREATE, 0o600)
			must(t, err)
			b := make([]byte, store.SlotSize)
			end := 60
			_, _ = f.ReadAt(b, 0)
			if strings.HasSuffix(name, ".cursor") {
				store.PutSlot(b, 1, store.Position{Spool: 5, Seq: 5}, nil)
				end = store.SlotSize - 4
			}
			binary.LittleEndian.PutUint32(b[8:], 7)
			binary.LittleEndian.PutUint32(b[end:], segment.Checksum(b[:end]))
			_, err = f.WriteAt(b, 0)
			must(t, err, f.Close())
			made, err := m.Open(filepath.Join(memDir, store.SegmentName(9)+store.MadeSuffix), os.O_RDWR|os.O_CREATE, 0o600)
			must(t, err)
			_, err = made.WriteAt([]byte("x"), 0)
			must(t, err, made.Close())

			before := memState(t, m)
			_, err = Open(memDir, &far{}, Config{fs: m})
			if !errors.Is(err, segment.ErrVersion) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "version 7") {
				t.Errorf("got %v, want ErrVersion for %s", err, name)
			}
			if memState(t, m) != before {
				t.Error("a file was changed")
			}
		})
	}
}
