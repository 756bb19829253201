// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// truncateActive truncates the file of the active segment to n bytes.
func truncateActive(t *testing.T, s *Sink, dir string, n int64) {
	t.Helper()
	must(t, os.Truncate(filepath.Join(dir, store.SegmentName(s.chain.active.Load().Number)), n))
}

// TestTruncatedSegment truncates the file of a segment while lines are logged:
// no later line and none of an earlier segment is lost, and the process
// survives. The lines in the missing pages are counted.
func TestTruncatedSegment(t *testing.T) {
	for _, c := range []struct {
		name string
		left int64
	}{{"all", 0}, {"the records", segment.HeaderSize}, {"some of them", segment.HeaderSize + 8192}, {"a torn page", segment.HeaderSize + 8192 + 100}} {
		t.Run(c.name, func(t *testing.T) {
			dir := spoolDir(t)
			f := &far{do: down}
			s := open(t, dir, f, Config{SegmentSize: segment.MinSize, tick: time.Microsecond,
				Sync: SyncNever})
			for n := range 100 { // 58 fit into a segment
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			}
			awaitNext(s)
			truncateActive(t, s, dir, c.left)
			for n := range 200 {
				must(t, s.WriteRecord(record(nib.LevelInfo, 100+n, 1000)))
			}
			f.set(nil)
			must(t, s.Flush(context.Background()), s.Close())
			st := checkIdentity(t, s)
			lost := st.Lost()
			if got := uint64(len(f.take())); got+lost != 300 || lost > 42 || lost == 0 || st.Retired > 1 {
				t.Errorf("%d lines arrived, %+v; want at most 42 of 300 lost", got, st)
			}
		})
	}
}

// TestTruncatedUnderLoad does the same repeatedly to a spool that many
// goroutines log to while it is delivered.
func TestTruncatedUnderLoad(t *testing.T) {
	if raceDetector {
		t.Skip("its runtime does atomic operations itself, outside of Go, where a page that is gone ends the process")
	}
	for _, sync := range []SyncPolicy{SyncNever, SyncSoon} {
		f := &far{}
		truncatedUnderLoad(t, f, f, sync)
	}
	f, mood := &far{}, rand.New(rand.NewPCG(1, 1))
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		return delivery.Result{Accepted: 1 + mood.IntN(len(batch))}, nil, false
	})
	truncatedUnderLoad(t, f, eager{f}, SyncSoon)
}

func truncatedUnderLoad(t *testing.T, f *far, dest delivery.Destination, policy SyncPolicy) {
	dir := spoolDir(t)
	s := open(t, dir, dest, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize,
		Sync:   policy,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	var stop atomic.Bool
	var wg sync.WaitGroup
	var logged [4]int
	for w := range logged {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; !stop.Load(); n++ {
				err := s.WriteRecord(record(nib.LevelInfo, w*1e6+n, 30+n%2000))
				switch {
				case err == nil:
					logged[w]++
				case !errors.Is(err, segment.ErrGone): // each attempt may meet another file that is cut off
					t.Errorf("line %d: %v", n, err)
					return
				}
			}
		}()
	}
	cuts := 0
	for number := uint64(0); cuts < 15; {
		g := s.chain.active.Load()
		if g.Number == number {
			runtime.Gosched()
			continue
		}
		number = g.Number
		if os.Truncate(filepath.Join(dir, store.SegmentName(number)), segment.HeaderSize+int64(cuts%3)*9000) == nil {
			cuts++
		}
	}
	stop.Store(true)
	wg.Wait()
	must(t, s.Flush(context.Background()), s.Close())
	all := uint64(0)
	for _, n := range logged {
		all += uint64(n)
	}
	st := checkIdentity(t, s)
	if got := uint64(len(f.take())); got+st.Lost() < all || st.Retired > cuts || st.Logged < all {
		t.Errorf("%d of %d lines arrived, and %d are counted as lost, in %d segments cut off: %+v", got, all, st.Lost(), cuts, st)
	}
	t.Logf("%d segments cut off, %d of %d lines lost, %d segments were retired", cuts, st.Lost(), all, st.Retired)
}

// TestDeletedDirectoryAndFiles removes the directory and truncates its files:
// then lines are dropped and counted, and the process survives.
func TestDeletedDirectoryAndFiles(t *testing.T) {
	dir := spoolDir(t)
	f := &far{}
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, tick: time.Microsecond})
	awaitNext(s)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	for _, name := range files {
		must(t, os.Truncate(name, 0))
	}
	must(t, os.RemoveAll(dir))
	dropped := 0
	for n := range 100 {
		if s.WriteRecord(record(nib.LevelInfo, n, 1000)) != nil {
			dropped++
		}
	}
	if dropped == 0 {
		t.Error("got no error without a directory")
	}
	must(t, s.Flush(context.Background()), s.Close())
	st := checkIdentity(t, s)
	if got := uint64(len(f.take())); got+st.Lost() != 100 || st.Retired == 0 {
		t.Errorf("%d lines arrived of 100, %+v", got, st)
	}
}

// TestCallInProgressAtClose closes a spool while a call writes to its segment:
// the mapping stays.
func TestCallInProgressAtClose(t *testing.T) {
	s := open(t, spoolDir(t), &far{}, Config{SegmentSize: segment.MinSize, Drain: time.Nanosecond})
	r := record(nib.LevelInfo, 0, 100)
	g, size := s.chain.active.Load(), segment.RecordSize(r, -1)
	at, seq, _ := g.Reserve(size)
	closeDown(t, s)
	if ok, foreign := g.Write(at, size, seq, r, -1); !ok || foreign != nil {
		t.Errorf("the record was not written: %v", foreign)
	}
}

// TestDeletedSegmentIsKeptForItsReaders deletes a segment that still has a
// holder, such as the copier: no byte of it is freed.
func TestDeletedSegmentIsKeptForItsReaders(t *testing.T) {
	path := spoolDir(t)
	c := Config{}.withDefaults(path)
	d, _, err := store.OpenDir(path, c.options())
	must(t, err)
	defer d.Lock.Close()
	d.Sweeper.Start()
	g, f, err := d.Make(99, 4*store.DeletedPart, 0)
	must(t, err)
	f, err = d.Publish(g, f)
	must(t, err, f.Close())
	g.Retain()
	must(t, d.Remove(99, g))
	d.Sweeper.All()
	for i := segment.HeaderSize; i < len(g.Bytes()); i += segment.PageSize {
		g.Bytes()[i] = 1
	}
	g.Release()
	if n := d.Sweeper.Count(); n != 1 {
		t.Errorf("%d files are to be given back", n)
	}
	d.Sweeper.Stop()
}

// cannotSync is a file system that fails to sync files, and reports when a
// segment's file is opened.
type cannotSync struct {
	unsynced
	opened chan time.Time
}

type cannotSyncFile struct{ vfs.File }

func (cannotSyncFile) Sync() error { return syscall.EIO }

func (c cannotSync) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.unsynced.Open(name, flag, perm)
	if err == nil && strings.HasSuffix(name, store.MadeExt) {
		c.opened <- time.Now()
	}
	return cannotSyncFile{f}, err
}

// TestFailureIsNotTriedAgainAtOnce checks that the removal of a segment that
// could not be made does not trigger another attempt.
func TestFailureIsNotTriedAgainAtOnce(t *testing.T) {
	c := cannotSync{unsynced{vfs.OS()}, make(chan time.Time, 1000)}
	open(t, spoolDir(t), &far{}, Config{SegmentSize: segment.MinSize, Sync: SyncNever, fs: c})
	<-c.opened // the first segment, which is used without a sync
	if from, again := <-c.opened, <-c.opened; again.Sub(from) < makePause {
		t.Errorf("tried again after %v, want %v at least", again.Sub(from), makePause)
	}
}

// resident returns how many bytes of the segments in dir are in the memory of
// this process.
func resident(t *testing.T, dir string) (bytes int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	of := false
	for line := range strings.Lines(string(text)) {
		var kib int
		if field := strings.Fields(line)[0]; !strings.HasSuffix(field, ":") { // the head of a mapping
			of = strings.Contains(line, dir) && strings.Contains(line, store.SegmentExt)
		} else if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kib); of && n == 1 {
			bytes += kib << 10
		}
	}
	return bytes
}

// TestBacklogIsNotResident has a destination that goes down and comes back up.
func TestBacklogIsNotResident(t *testing.T) {
	const segment, segments, size = 1 << 20, 24, 10_000
	dir, f := spoolDir(t), &far{do: down}
	s := open(t, dir, f, Config{SegmentSize: segment, Size: 3 * segments * segment, Sync: SyncNever,
		tick:   time.Microsecond,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	for n := range segments * segment / size {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, size)))
	}
	// A segment that is taken into use has some others evicted, as many as the
	// sweeper takes.
	n := segments * segment / size
	for range segments {
		for g := s.chain.active.Load(); s.chain.active.Load() == g; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, size)))
		}
		awaitNext(s)
		await.Until(t, "the sweeper is done", func() bool { return s.chain.dir.Sweeper.Count() == 0 })
		if resident(t, dir) <= (near+4)*segment {
			break
		}
	}
	if got, want := resident(t, dir), (near+4)*segment; got == 0 || got > want {
		t.Errorf("%d bytes of %d are resident, want %d: what is read, %d behind it, the one that was sealed, the active one and the next",
			got, segments*segment, want, near)
	}
	f.set(nil)
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, n, size)
}

// TestWhichSegmentsAreEvicted has destinations in several places of a backlog:
// the segment they read, the one after that and the last two stay in memory.
// Each call evicts as many of the rest as the sweeper takes, which does not run
// here, and one more.
func TestWhichSegmentsAreEvicted(t *testing.T) {
	for _, c := range []struct {
		chain string // r: read, o: of another process
		calls int
		want  string // x: evicted
	}{
		{"r--", 1, "..."},
		{"r-----", 1, "..xx.."},
		{"--r---", 1, "xx...."},
		{"rr------", 1, "...xxx.."},
		{"r--or---", 1, "..x....."},
		{"r----------", 1, "..xxxxx...."},
		{"r----------", 2, "..xxxxxx..."},
		{"r----------", 4, "..xxxxxxx.."},
	} {
		conf := Config{fs: unsynced{vfs.OS()}}.withDefaults("")
		dir, _, err := store.OpenDir(spoolDir(t), conf.options())
		must(t, err)
		dir.Sweeper.Start()
		s := newSink(conf)
		s.chain.dir = dir
		for i, kind := range c.chain {
			l := &deliver.Link{Old: segment.Old{Identity: segment.Identity{Number: uint64(i + 1)}}}
			if kind != 'o' {
				l.Live, err = dir.Create(l.Number, segment.MinSize, func() {})
				must(t, err)
			}
			if kind == 'r' {
				d, err := s.newDelivery(fmt.Sprint("at", i), nil)
				must(t, err)
				d.Begin(1, l)
			}
			s.chain.Links = append(s.chain.Links, l)
		}
		for range c.calls {
			s.chain.evict()
		}
		got := []byte(strings.Repeat(".", len(c.chain)))
		for i, l := range s.chain.Links {
			if l.Live == nil {
				continue
			}
			if l.Live.EvictedPages() != nil {
				got[i] = 'x'
			}
			l.Live.Done(nil)
		}
		if string(got) != c.want {
			t.Errorf("%s, %d calls: evicted %s, want %s", c.chain, c.calls, got, c.want)
		}
		dir.Sweeper.Stop()
		must(t, dir.Unlock())
	}
}

// TestNothingIsMappedAfterClose closes a spool whose lines could not be copied.
func TestNothingIsMappedAfterClose(t *testing.T) {
	dir, faulty := spoolDir(t), vfstest.NewFaulty(unsynced{vfs.OS()})
	s := open(t, dir, &far{do: down}, Config{SegmentSize: segment.MinSize, fs: faulty, Drain: 1,
		OnError: func(error) {}})
	faulty.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: "*" + store.CopyExt + "*", Err: syscall.EIO})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
	_ = s.Close() // a line is left
	<-s.done
	if st := s.Stats(); st.Errors == 0 {
		t.Error("the line was copied")
	}
	await.Until(t, "nothing is mapped", func() bool {
		text, err := os.ReadFile("/proc/self/maps")
		must(t, err)
		return !strings.Contains(string(text), dir)
	})
}
