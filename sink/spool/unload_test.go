// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// harms are damages to the file of a segment whose memory was freed.
var harms = map[string]func(t *testing.T, m *vfstest.Mem, bad badSector){
	"the end cut off": func(t *testing.T, m *vfstest.Mem, bad badSector) {
		f, err := m.Open(filepath.Join(memDir, bad.name), os.O_RDWR, 0)
		must(t, err, f.Truncate(segment.MinSize-2*segment.PageSize), f.Close())
	},
	"the end erased": func(t *testing.T, m *vfstest.Mem, bad badSector) {
		edit(t, m, bad.name, func(b []byte) { clear(b[len(b)-2*segment.PageSize:]) })
	},
	"a page erased": func(t *testing.T, m *vfstest.Mem, bad badSector) {
		edit(t, m, bad.name, func(b []byte) { clear(b[bad.at : bad.at+segment.PageSize]) })
	},
	"a bad sector": func(t *testing.T, m *vfstest.Mem, bad badSector) { bad.on.Store(true) },
	"removed": func(t *testing.T, m *vfstest.Mem, bad badSector) {
		must(t, m.Remove(filepath.Join(memDir, bad.name)))
	},
}

// TestDamageToABacklogOfThisProcess harms a segment that this process has
// written and will read from its file. Lines that were synced are delivered
// from the copy; without one, missing lines count as damaged.
func TestDamageToABacklogOfThisProcess(t *testing.T) {
	const lines = 800 // 247 in a segment
	for name, harm := range harms {
		for _, sync := range []SyncPolicy{SyncSoon, SyncNever} {
			if name == "a bad sector" && sync == SyncNever {
				continue // TestEveryCallMayFail and the tests of package deliver
			}
			for _, continued := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s sync=%d continued=%v", name, sync, continued), func(t *testing.T) {
					m, f, before := vfstest.NewMem(nil), &far{do: down}, 0
					if continued { // in the second segment
						before = 300
						m = memBacklog(t, before, 200, sync)
					}
					must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
					b := badSector{m, store.SegmentName(2), segment.HeaderSize + 2*segment.PageSize, new(atomic.Bool)}
					s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: b, Sync: sync, tick: time.Microsecond})
					for n := before; n < lines; n++ {
						must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
					}
					if sync == SyncSoon {
						must(t, s.Sync(context.Background()))
					}
					harm(t, m, b)
					f.set(nil)
					must(t, s.Flush(context.Background()), s.Close())
					st := checkIdentity(t, s)
					if sync == SyncSoon {
						checkLines(t, f.take(), 0, lines, 200)
					} else if got := uint64(len(f.take())) - st.Notices; got+st.Lost() != lines || st.Lost() == 0 {
						t.Errorf("%d lines arrived and %d count as damaged, of %d", got, st.Lost(), lines)
					}
					if st.Recovered != uint64(before) || st.Unfinished != 0 {
						t.Errorf("got %+v, want %d recovered and none unfinished", st, before)
					}
				})
			}
		}
	}
}

// TestDroppingADamagedSegmentOfThisProcess drops such a segment to make room.
func TestDroppingADamagedSegmentOfThisProcess(t *testing.T) {
	m, f := vfstest.NewMem(nil), &far{do: down}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever, tick: time.Microsecond,
		OnFull: []FullRule{{Do: ActionDropOld}}})
	n := 0
	for ; s.Stats().Segments < 4; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	edit(t, m, store.SegmentName(2), func(b []byte) { clear(b[len(b)-2*segment.PageSize:]) })
	for ; s.Stats().Lost() == 0; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	if st := checkIdentity(t, s); st.Recovered != 0 || st.Unfinished != 0 {
		t.Errorf("got %+v, want none recovered or unfinished", st)
	}
	f.set(nil)
	must(t, s.Flush(context.Background()))
}

// TestDroppingASegmentWithVoidClaims drops a segment in which a write has
// failed, in a spool without a destination.
func TestDroppingASegmentWithVoidClaims(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	faulty := vfstest.NewFaulty(m)
	s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: faulty, Sync: SyncNever,
		OnFull: []FullRule{{Do: ActionDropOld}}})
	awaitNext(s)
	for n := range 1000 {
		if n == 3 {
			faulty.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: syscall.EIO})
		}
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		if n == 3 {
			await.Until(t, "the segment is left", func() bool {
				s.chain.Lock()
				defer s.chain.Unlock()
				return s.chain.Links[0].Live == nil
			})
		}
	}
	st := checkIdentity(t, s)
	if st.Logged != 1000+st.Notices || st.Lost()+st.Pending != st.Logged || st.Unfinished != 0 || st.Lost() == 0 {
		t.Errorf("got %+v, want the lines of the oldest segments dropped", st)
	}
}

// TestVoidClaimsDoNotKeepASegmentInMemory has a call that could not write its
// line, or whose line could not be read while other calls wrote theirs: the
// memory of the segment is freed before its lines are delivered, from the file.
func TestVoidClaimsDoNotKeepASegmentInMemory(t *testing.T) {
	const inSegment = 247
	for _, unwritten := range []bool{false, true} {
		m, f, n := vfstest.NewMem(nil), &far{do: down}, 0
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, f, Config{
			SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, tick: time.Microsecond,
			OnError: func(error) {},
		})
		write := func(lines int) {
			for range lines {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
				n++
			}
		}
		write(inSegment + 50)
		awaitNext(s)
		if g := s.chain.active.Load(); unwritten {
			m.Fail(vfstest.Fault{
				Op: vfstest.OpWrite, Path: store.SegmentName(2) + "*", Times: 1, Err: syscall.EIO,
			})
		} else {
			size := segment.RecordSize(record(nib.LevelInfo, 0, 200), -1)
			at, seq, _ := g.Reserve(size)
			write(50)
			s.retire(g, at, size, seq, errors.New("the line cannot be read"))
		}
		write(2*inSegment + 1)
		s.chain.Lock()
		isInMemory := s.chain.Links[1].Live != nil
		s.chain.Unlock()
		f.set(nil)
		must(t, s.Flush(context.Background()))
		st := checkIdentity(t, s)
		if isInMemory || st.Retired != 1 || st.Lost() != 0 || st.Unfinished != 0 {
			t.Errorf("unwritten %v: in memory %v, got %+v", unwritten, isInMemory, st)
		}
		checkLines(t, f.take(), 0, n, 200)
		must(t, s.Close())
	}
}

// TestDroppingASegmentThisProcessFailedToWrite drops a segment in which a write
// has failed, while its destination is down: the lines before the failure count
// as dropped, and the spool goes on dropping the segments after it.
func TestDroppingASegmentThisProcessFailedToWrite(t *testing.T) {
	const inSegment, whole = 247, 100
	m, f := vfstest.NewMem(nil), &far{do: down}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever, tick: time.Microsecond,
		OnError: func(error) {}, OnFull: []FullRule{{Do: ActionDropOld}}})
	n := 0
	write := func(lines int) {
		for range lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			n++
		}
	}
	write(inSegment + whole)
	awaitNext(s)
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: store.SegmentName(2) + "*", Times: 1, Err: syscall.EIO})
	write(2 * inSegment) // the rest of the segments
	write(1)
	want := []delivery.Drop{{Reason: delivery.ReasonOldest, Level: nib.LevelInfo, Lines: whole}}
	if st := checkIdentity(t, s); !slices.Equal(st.Dropped, want) || st.Retired != 1 || st.Unfinished != 0 {
		t.Errorf("got %+v, want %v dropped", st, want)
	}
	write(4 * inSegment)
	f.set(nil)
	must(t, s.Flush(context.Background()))
	st := checkIdentity(t, s)
	if got := uint64(len(f.take())+len(f.notices)) + st.Lost(); got != st.Logged || st.Lost() < 3*inSegment || st.Unfinished != 0 || st.Pending != 0 {
		t.Errorf("%d lines arrived or were dropped: %+v", got, st)
	}
	must(t, s.Close())
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open after Close", n)
	}
}

// TestQuarantineRemovesTheCopy quarantines a segment, which fails at first: its
// copy is removed with it. Before that, a placeholder of its number is removed.
func TestQuarantineRemovesTheCopy(t *testing.T) {
	m := memBacklog(t, 10, 200, SyncSoon)
	conf := Config{fs: m}.withDefaults(memDir)
	dir, old, err := store.OpenDir(memDir, conf.options())
	must(t, err)
	s := newSink(conf)
	s.chain.dir = dir
	s.maker.remove(&deliver.Link{Old: old[0], Placeholder: true})
	if n := len(memNames(t, m, store.SegmentExt)); n != 1 {
		t.Errorf("%d segments are left by a placeholder, which has no file; want 1", n)
	}
	for _, want := range []error{syscall.EIO, nil} {
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpRename, Err: want})
		err := s.maker.delete(&deliver.Link{Old: old[0], Quarantine: true})
		heal()
		bad, copies := len(memNames(t, m, store.BadExt)), len(memNames(t, m, store.CopyExt))
		if done := want == nil; !errors.Is(err, want) || (bad == 1) != done || (copies == 0) != done {
			t.Errorf("got %v, %d quarantined files and %d copies; want %v", err, bad, copies, want)
		}
	}
	must(t, dir.Unlock())
}
