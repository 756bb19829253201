// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A brokenPage is a spool with an unreadable page in the live segment, as after
// EIO, and liveLines undelivered lines in it.
type brokenPage struct {
	s       *Sink
	f       *far
	dir     string
	heal    func()
	reports atomic.Int32
}

const (
	liveLines   = 50 // 58 of this size fit into a segment
	liveSize    = 1000
	linesOfPage = 5 // at most so many have a byte in one page
)

// breakPage logs lines, and removes a page of their segment. f is down. The
// lines are synced unless c has a SyncDelay.
func breakPage(t *testing.T, c Config) *brokenPage {
	t.Helper()
	if raceDetector {
		t.Skip("its runtime does atomic operations itself, outside of Go, where a page that is gone ends the process")
	}
	x := &brokenPage{f: &far{do: down}, dir: spoolDir(t)}
	c.SegmentSize, c.Drain = segment.MinSize, time.Second
	c.OnError = func(err error) {
		if !errors.Is(err, errDown) {
			x.reports.Add(1)
		}
	}
	x.s = open(t, x.dir, x.f, c)
	for n := range liveLines {
		must(t, x.s.WriteRecord(record(nib.LevelInfo, n, liveSize)))
		if n == 0 {
			time.Sleep(time.Second) // f has got the first one, and nothing else is read for it
			synctest.Wait()
		}
	}
	if c.Sync != SyncNever && c.SyncDelay == 0 {
		must(t, x.s.Sync(context.Background()))
	}
	time.Sleep(time.Second) // other destinations have read it
	synctest.Wait()
	page := x.s.chain.active.Load().Bytes()[segment.HeaderSize+4*segment.PageSize:][:segment.PageSize]
	must(t, syscall.Mprotect(page, syscall.PROT_NONE))
	x.heal = func() { must(t, syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_WRITE)) }
	return x
}

// TestUnreadablePageOfLiveSegment loses only the lines that have a byte in the
// page, once the page has failed for giveUpTime. Calls do not wait.
func TestUnreadablePageOfLiveSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := breakPage(t, Config{Sync: SyncNever})
		x.f.set(nil)
		begin := time.Now()
		for time.Since(begin) < deliver.GiveUpTime/2 {
			await.Sleep(time.Second)
		}
		if n := len(x.f.take()); n == 0 || n >= liveLines-linesOfPage {
			t.Errorf("%d lines arrived before the page was given up", n)
		}
		before := time.Now()
		must(t, x.s.WriteRecord(record(nib.LevelInfo, liveLines, liveSize)))
		if took := time.Since(before); took > 0 {
			t.Errorf("the call waited for %v", took)
		}
		must(t, x.s.Flush(context.Background()))
		if n := len(x.f.take()); n < liveLines/3 {
			t.Errorf("%d lines arrived from behind the page", n)
		}
		if took := time.Since(begin); took < deliver.GiveUpTime || took > 3*deliver.GiveUpTime {
			t.Errorf("given up after %v, want %v", took, deliver.GiveUpTime)
		}
		st := checkIdentity(t, x.s)
		if lost := st.Lost(); lost == 0 || lost > linesOfPage || st.Delivered != st.Logged-lost {
			t.Errorf("got %+v, want up to %d lines damaged and the others delivered", st, linesOfPage)
		}
		if st.Errors == 0 || st.Bad != 1 {
			t.Errorf("got %+v, want errors and a file in quarantine", st)
		}
		must(t, x.s.Close())
		if n := x.reports.Load(); n != 2 {
			t.Errorf("%d reports, want one that the page cannot be read, and one that it is given up", n)
		}
		if bad, _ := filepath.Glob(filepath.Join(x.dir, "*"+store.SegmentExt+store.BadExt)); len(bad) != 1 {
			t.Errorf("in quarantine: %q", bad)
		}
	})
}

// TestLivePageThatComesBack has a page that can be read again before it counts
// as damaged: nothing is lost.
func TestLivePageThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := breakPage(t, Config{Sync: SyncNever})
		time.AfterFunc(deliver.GiveUpTime/2, x.heal)
		x.f.set(nil)
		must(t, x.s.Flush(context.Background()))
		checkLines(t, x.f.take(), 0, liveLines, liveSize)
		if st := checkIdentity(t, x.s); st.Lost() > 0 || st.Errors == 0 || st.Bad > 0 {
			t.Errorf("got %+v, want errors and nothing lost", st)
		}
		must(t, x.s.Close())
	})
}

// TestLivePageIsReadFromTheCopy reads synced records of the page from the copy.
func TestLivePageIsReadFromTheCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := breakPage(t, Config{Sync: SyncSoon})
		begin := time.Now()
		x.f.set(nil)
		must(t, x.s.Flush(context.Background()))
		checkLines(t, x.f.take(), 0, liveLines, liveSize)
		if took := time.Since(begin); took > deliver.LongestPause {
			t.Errorf("took %v, want no wait", took)
		}
		if st := checkIdentity(t, x.s); st.Lost() > 0 || st.Errors == 0 {
			t.Errorf("got %+v, want errors and nothing lost", st)
		}
		must(t, x.s.WriteRecord(record(nib.LevelInfo, liveLines, liveSize)), x.s.Sync(context.Background()), x.s.Close())
		if left, _ := filepath.Glob(filepath.Join(x.dir, "*"+store.CopyExt)); len(left) > 1 {
			t.Errorf("copies are left: %q", left)
		}
	})
}

// TestSyncWithAnUnreadablePage has a page that cannot be read before its lines
// are copied: Sync fails, which is counted and reported, and lines go on in
// another segment. When the page can be read again, all lines are synced.
func TestSyncWithAnUnreadablePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := breakPage(t, Config{Sync: SyncSoon, SyncDelay: time.Hour})
		g := x.s.chain.active.Load()
		if err := x.s.Sync(context.Background()); !errors.Is(err, errUnsynced) {
			t.Errorf("Sync while a page cannot be read: got %v, want errUnsynced", err)
		}
		synctest.Wait()
		if st := x.s.Stats(); st.Errors == 0 || x.reports.Load() != 1 {
			t.Errorf("got %d errors and %d reports, want errors and one report", st.Errors, x.reports.Load())
		}
		must(t, x.s.WriteRecord(record(nib.LevelInfo, liveLines, liveSize)))
		if x.s.chain.active.Load() == g {
			t.Error("the line is in the segment that cannot be read")
		}
		x.heal()
		await.Sleep(2 * deliver.LongestPause)
		must(t, x.s.Sync(context.Background()))
		if got := x.s.synced(); got != liveLines+2 {
			t.Errorf("lines below %d are synced, want %d", got, liveLines+2)
		}
		x.f.set(nil)
		must(t, x.s.Flush(context.Background()))
		checkLines(t, x.f.take(), 0, liveLines+1, liveSize)
		must(t, x.s.Close())
	})
}

// TestUnreadableLivePageForSeveral has two destinations. One has already read
// the segment.
func TestUnreadableLivePageForSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := &far{}
		x := breakPage(t, Config{Sync: SyncNever, Also: []NamedDestination{{Name: "second", To: second}}})
		x.f.set(nil)
		must(t, x.s.Flush(context.Background()))
		st := checkIdentity(t, x.s)
		for _, d := range st.Destinations {
			if d.Delivered+d.Lost() != st.Logged || d.Lost() > linesOfPage {
				t.Errorf("got %+v", d)
			}
		}
		if st.Destinations[1].Lost() > 0 {
			t.Errorf("got %+v, want nothing lost", st.Destinations[1])
		}
		must(t, x.s.Close())
	})
}

// TestWriterIsAtWorkInUnreadableSegment waits for a call that has claimed space
// after the page.
func TestWriterIsAtWorkInUnreadableSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := breakPage(t, Config{Sync: SyncNever})
		r := record(nib.LevelInfo, liveLines, liveSize)
		g, size := x.s.chain.active.Load(), segment.RecordSize(r, -1)
		at, seq, _ := g.Reserve(size)
		time.AfterFunc(deliver.GiveUpTime/2, func() {
			x.heal()
			if ok, _ := g.Write(at, size, seq, r, -1); !ok {
				t.Error("the record was not written")
			}
		})
		x.f.set(nil)
		must(t, x.s.Flush(context.Background()))
		checkLines(t, x.f.take(), 0, liveLines+1, liveSize)
		must(t, x.s.Close())
	})
}

// TestVoidClaimInUnreadableSegment voids a claim after the page, before and
// after the page counts as damaged: the claim counts once.
func TestVoidClaimInUnreadableSegment(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			x := breakPage(t, Config{Sync: SyncNever})
			r := record(nib.LevelInfo, liveLines, liveSize)
			g, size := x.s.chain.active.Load(), segment.RecordSize(r, -1)
			at, seq, _ := g.Reserve(size)
			void := func() {
				x.s.retire(g, at, size, seq, segment.ErrGone)
				must(t, x.s.WriteRecord(r))
			}
			if !late {
				void()
			}
			x.f.set(nil)
			must(t, x.s.Flush(context.Background()))
			if late {
				void()
				must(t, x.s.Flush(context.Background()))
			}
			st := checkIdentity(t, x.s)
			if lost := st.Lost(); lost == 0 || lost > linesOfPage || st.Logged != liveLines+1+st.Notices {
				t.Errorf("late=%v: got %+v, want up to %d lines damaged", late, st, linesOfPage)
			}
			must(t, x.s.Close())
		})
	}
}

// TestDropOldPassesAnUnreadableLiveSegment has the page in a segment that the
// destination has not reached.
func TestDropOldPassesAnUnreadableLiveSegment(t *testing.T) {
	if raceDetector {
		t.Skip("its runtime does atomic operations itself, outside of Go, where a page that is gone ends the process")
	}
	synctest.Test(t, func(t *testing.T) {
		f, n, pages := &far{do: down}, 0, []byte(nil)
		s := open(t, spoolDir(t), f, Config{SegmentSize: segment.MinSize, Size: 5 * segment.MinSize,
			Sync: SyncNever, Drain: 1,
			OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}, slow: slowDisk})
		for ; s.chain.active.Load().Number < 4; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			if g := s.chain.active.Load(); g.Number == 2 {
				pages = g.Bytes()[segment.HeaderSize+4*segment.PageSize:][:segment.PageSize]
			}
		}
		must(t, syscall.Mprotect(pages, syscall.PROT_NONE))
		dropsOthers(t, s, f, n, func() { must(t, syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE)) })
	})
}

// TestCutOffLiveSegmentIsNotWaitedFor truncates a mapped file, so that accesses
// raise SIGBUS.
func TestCutOffLiveSegmentIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := breakPage(t, Config{Sync: SyncNever})
		x.heal()
		must(t, os.Truncate(filepath.Join(x.dir, store.SegmentName(x.s.chain.active.Load().Number)), segment.HeaderSize+4*segment.PageSize))
		begin := time.Now()
		x.f.set(nil)
		must(t, x.s.Flush(context.Background()))
		if took := time.Since(begin); took > deliver.LongestPause {
			t.Errorf("took %v", took)
		}
		if got := len(x.f.take()); got != 4*segment.PageSize/segment.Align(segment.RecordHead+liveSize) {
			t.Errorf("%d lines arrived", got)
		}
		checkIdentity(t, x.s)
		must(t, x.s.Close())
	})
}

// TestLineThatCannotBeRead logs a line from a mapping of the test whose file is
// gone: the caller panics, and the next line is delivered.
func TestLineThatCannotBeRead(t *testing.T) {
	f, err := vfs.OS().Open(filepath.Join(t.TempDir(), "line"), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, f.Truncate(segment.PageSize))
	b, err := syscall.Mmap(int(f.Fd()), 0, segment.PageSize, syscall.PROT_READ, syscall.MAP_SHARED)
	must(t, err, f.Truncate(0), f.Close())
	defer syscall.Munmap(b)
	for name, c := range map[string]Config{
		"memory": {}, "mapped": {Sync: SyncNever}, "written": {Sync: SyncNever, Written: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir, far, reports := spoolDir(t), &far{}, []string(nil)
			if name == "memory" {
				dir = ""
			}
			c.SegmentSize = segment.MinSize
			c.OnError = func(err error) { reports = append(reports, err.Error()) }
			s := open(t, dir, far, c)
			func() {
				defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
				defer func() {
					if recover() == nil {
						t.Errorf("%s: got no panic", name)
					}
				}()
				_ = s.WriteRecord(&nib.Record{Line: b[:100]})
			}()
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			must(t, s.Flush(ctx))
			checkLines(t, far.take(), 0, 1, 100)
			st := checkIdentity(t, s)
			if st.Logged != 1 || st.Delivered != 1 || st.Errors > 0 {
				t.Errorf("%s: got %+v, want one line logged and delivered", name, st)
			}
			must(t, s.Close())
			if len(reports) != 1 || !strings.Contains(reports[0], "the line cannot be read: ") {
				t.Errorf("%s: reported %q, want that the line cannot be read", name, reports)
			}
		})
	}
}
