// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A tracker finds out which files of a spool were segments before.
type tracker struct {
	dir    string
	number map[vfs.ID]uint64
	image  map[vfs.ID][]byte // the last one read
	before map[uint64][]byte // of reused segments, by their new number: the contents before
	fresh  map[uint64][]byte // and their first contents after
}

func track(dir string) *tracker {
	return &tracker{dir, map[vfs.ID]uint64{}, map[vfs.ID][]byte{}, map[uint64][]byte{}, map[uint64][]byte{}}
}

// look reads the segments, and returns how many files of the size of a segment
// there are.
func (k *tracker) look(t *testing.T) (files int) {
	t.Helper()
	names, err := vfs.OS().ReadDir(k.dir)
	must(t, err)
	for _, name := range names {
		info, err := vfs.OS().Lstat(filepath.Join(k.dir, name))
		if err != nil || info.Size < segment.MinSize {
			continue
		}
		files++
		number, ok := store.SegmentNumber(name)
		if !ok {
			continue
		}
		b, err := os.ReadFile(filepath.Join(k.dir, name))
		if err != nil {
			continue
		}
		if n, seen := k.number[info.ID]; seen && n != number {
			k.before[number], k.fresh[number] = k.image[info.ID], b
		}
		k.number[info.ID], k.image[info.ID] = number, b
	}
	return files
}

// TestSettledSegmentsAreReused logs into a spool that delivers: later segments
// have the files of earlier ones, each line arrives once, and no more files
// exist than Config.Size allows.
func TestSettledSegmentsAreReused(t *testing.T) {
	for _, policy := range []SyncPolicy{SyncNever, SyncSoon} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			dir := spoolDir(t)
			const files, lines = 6, 4000
			f := &far{}
			s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Size: files * segment.MinSize,
				Sync: policy})
			k := track(dir)
			for n := range lines {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
				if n%100 == 0 {
					must(t, s.Flush(context.Background()))
					if got := k.look(t); policy == SyncNever && got > files+1 { // one is being renamed
						t.Fatalf("%d files of the size of a segment, want %d at most", got, files)
					}
				}
			}
			must(t, s.Flush(context.Background()), s.Close())
			checkLines(t, f.take(), 0, lines, 200)
			if st := checkIdentity(t, s); st.Errors > 0 || st.Lost() > 0 {
				t.Errorf("got %+v", st)
			}
			if len(k.before) == 0 {
				t.Error("no segment has the file of an earlier one")
			}
		})
	}
}

// A reused is a reused segment of a process that died.
type reused struct {
	dir    string // with the segment
	number uint64
	old    []byte // the file as the earlier segment
	fresh  []byte // as the new one, before its first record
	full   []byte // with records
	first  int    // the first line in it
	lines  int
}

const reusedSize = 700 // bytes of a line

// reuse logs until a reused segment is active, fills it while the destination
// is down, and lets the process die.
func reuse(t *testing.T) (r reused) {
	t.Helper()
	f := &far{}
	dir := spoolDir(t)
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Size: 1 << 20, Sync: SyncNever,
		Drain:   time.Nanosecond,
		OnError: func(error) {}})
	defer s.Close()
	k := track(dir)
	n := 0
	log := func() {
		// No two lines have a part in common.
		r := nib.Record{Level: nib.LevelInfo, Time: int64(n), Line: bytes.Repeat(fmt.Appendf(nil, "%06d ", n), reusedSize/7)}
		must(t, s.WriteRecord(&r))
		n++
	}
	fill := func() { // up to room for one line
		for end := 0; segment.MinSize-end >= 2*(reusedSize+segment.RecordHead); end, _, _ = s.chain.active.Load().Claimed() {
			log()
		}
	}
	for r.old == nil {
		fill()
		k.look(t)
		for g := s.chain.active.Load(); s.chain.active.Load() == g; {
			log()
		}
		awaitNext(s)
		must(t, s.Flush(context.Background()))
		k.look(t) // the next one has no records yet
		r.number = s.chain.active.Load().Number
		r.old = k.before[r.number]
	}
	f.set(down)
	r.first = n
	fill()
	r.dir, r.lines, r.fresh = dead(t, dir), n-r.first, k.fresh[r.number]
	var err error
	r.full, err = os.ReadFile(filepath.Join(r.dir, store.SegmentName(r.number)))
	must(t, err)
	return r
}

// TestOldBytesAreNotDelivered cuts the power while a reused segment is written
// to: any page may have the bytes of the segment that the file was before,
// except the first two, which are synced before the file gets its new name.
// Exactly the records whose pages are on the disk are delivered.
func TestOldBytesAreNotDelivered(t *testing.T) {
	r := reuse(t)
	const behind = 2 * segment.PageSize // the pages that are synced
	if !bytes.ContainsRune(r.old[behind:], ' ') || len(bytes.Trim(r.fresh[behind:], "\x00")) > 0 {
		t.Fatal("the file had no old bytes, or still has them")
	}
	oldIf := func(isOld func(p int) bool) func(p int) []byte {
		return func(p int) []byte {
			if isOld(p) {
				return r.old
			}
			return r.full
		}
	}
	for _, boot := range []uint64{0, vfs.Boot()} {
		r.cut(t, "none", boot, oldIf(func(int) bool { return false }))
		for p := 2; p < len(r.full)/segment.PageSize; p++ {
			r.cut(t, fmt.Sprintf("page %d", p), boot, oldIf(func(q int) bool { return q == p }))
			r.cut(t, fmt.Sprintf("pages from %d", p), boot, oldIf(func(q int) bool { return q >= p }))
		}
		r.cut(t, "unused", boot, func(p int) []byte {
			if p < 2 {
				return r.fresh
			}
			return r.old
		})
		for seed := range images() / 2 {
			rng := rand.New(rand.NewPCG(seed, boot))
			from := [][]byte{r.full, r.fresh, r.old}
			r.cut(t, fmt.Sprintf("seed %d", seed), boot, func(p int) []byte { return from[rng.IntN(min(p, 2)+1)] })
		}
	}
}

// cut starts with a segment that has the bytes of choose in each page.
func (r *reused) cut(t *testing.T, name string, boot uint64, choose func(p int) []byte) {
	t.Helper()
	b := make([]byte, len(r.full))
	isNew := make([]bool, len(b)/segment.PageSize)
	for p := range isNew {
		from := choose(p)
		isNew[p] = &from[0] == &r.full[0]
		at := p * segment.PageSize
		copy(b[at:at+segment.PageSize], from[at:])
	}
	must(t, os.WriteFile(filepath.Join(r.dir, store.SegmentName(r.number)), b, 0o600))
	copied := dead(t, r.dir)
	got, st := r.start(t, copied, boot)
	want := r.wanted(t, isNew)
	if !isNew[0] {
		want = nil // without its start, the segment has no records
	}
	if !slices.EqualFunc(got, want, bytes.Equal) || st.Bad > 0 {
		t.Fatalf("%s, boot %d: got %d lines, want %d: %+v", name, boot, len(got), len(want), st)
	}
	must(t, os.RemoveAll(copied))
}

// start opens the spool in dir, and returns the lines that are delivered.
func (r *reused) start(t *testing.T, dir string, boot uint64) (lines [][]byte, st Stats) {
	t.Helper()
	f := &far{}
	s, err := Open(dir, f, Config{SegmentSize: segment.MinSize, Size: 1 << 20, fs: unsynced{vfs.OS()}, boot: boot, Sync: SyncNever})
	must(t, err, s.WriteRecord(record(nib.LevelInfo, 999_999, 60)), s.Flush(context.Background()), s.Close())
	lines = f.take()
	for i := 1; i < len(f.seqs); i++ {
		if f.seqs[i] <= f.seqs[i-1] {
			t.Fatalf("number %d after %d", f.seqs[i], f.seqs[i-1])
		}
	}
	return lines[:len(lines)-1], checkIdentity(t, s)
}

// wanted returns the lines of the records that are in new pages only.
func (r *reused) wanted(t *testing.T, isNew []bool) (lines [][]byte) {
	id, err := segment.ReadHeader(r.full)
	must(t, err)
	start, _ := segment.ReadStart(r.full, id.Seed())
	for sc := segment.NewScanner(r.full, id, start.First); ; {
		rec, _, ok := sc.Next()
		if !ok {
			return lines
		}
		whole := true
		for at := sc.At - segment.Align(len(rec)); at < sc.At; at += 8 {
			whole = whole && isNew[at/segment.PageSize]
		}
		if x, _ := segment.Decode(rec, false, map[string]string{}); whole && x.Time >= int64(r.first) {
			lines = append(lines, x.Line)
		}
	}
}

// settleOne makes a segment and settles it. It returns the temporary name of
// its file.
func settleOne(t *testing.T, minFree int64) (d *store.Dir, made string) {
	t.Helper()
	d, all := settle(t, Config{MinFree: minFree}, 1)
	return d, all[0]
}

// settle is settleOne for several segments.
func settle(t *testing.T, c Config, segments uint64) (d *store.Dir, made []string) {
	t.Helper()
	c = c.withDefaults(spoolDir(t))
	d, _, err := store.OpenDir(spoolDir(t), c.options())
	must(t, err)
	t.Cleanup(func() { must(t, d.Unlock()) })
	d.Sweeper.Start()
	t.Cleanup(d.Sweeper.Stop)
	d.Spares.Allow(true)
	t.Cleanup(func() { d.Spares.Allow(false) })
	for n := range segments {
		g, f, err := d.Make(n+1, segment.MinSize, 0)
		must(t, err)
		f, err = d.Publish(g, f)
		must(t, err, f.Close())
		copy(g.Bytes()[segment.HeaderSize:], "a record")
		must(t, d.RemoveSettled(n+1, g))
		made = append(made, d.Name(store.SegmentName(n+1)+store.MadeSuffix))
	}
	return d, made
}

func wantDeleted(t *testing.T, d *store.Dir, made string) {
	t.Helper()
	d.Sweeper.All()
	if _, err := os.Lstat(made); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: got %v, want it to be deleted", filepath.Base(made), err)
	}
}

// createAfter makes a segment, and checks that it is empty and that there is no
// spare after it.
func createAfter(t *testing.T, d *store.Dir, made string) (id vfs.ID) {
	t.Helper()
	g, err := d.Create(2, segment.MinSize, func() {})
	must(t, err)
	if !bytes.Equal(g.Bytes()[segment.HeaderSize:], make([]byte, segment.MinSize-segment.HeaderSize)) {
		t.Error("the new segment has bytes of an old one")
	}
	info, err := vfs.OS().Lstat(d.Name(store.SegmentName(2)))
	must(t, err, d.Remove(2, g))
	wantDeleted(t, d, made)
	return info.ID
}

// TestFilesThatAreNotReused has settled segments whose files must not change:
// a file with another name, a file that was cut off, a file on a volume with
// little space, and a file that is not used within a second.
func TestFilesThatAreNotReused(t *testing.T) {
	t.Run("none of these", func(t *testing.T) {
		d, made := settleOne(t, 0)
		before, err := vfs.OS().Lstat(made)
		must(t, err)
		if createAfter(t, d, made) != before.ID {
			t.Error("the file was not reused")
		}
	})
	t.Run("another name", func(t *testing.T) {
		d, made := settleOne(t, 0)
		kept := filepath.Join(t.TempDir(), "kept")
		must(t, os.Link(made, kept))
		createAfter(t, d, made)
		if b, err := os.ReadFile(kept); err != nil || !bytes.HasPrefix(b[segment.HeaderSize:], []byte("a record")) {
			t.Errorf("the file with another name was changed: %v", err)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		d, made := settleOne(t, 0)
		must(t, os.Truncate(made, segment.HeaderSize))
		createAfter(t, d, made)
	})
	t.Run("little space", func(t *testing.T) {
		d, made := settleOne(t, 1<<60)
		if _, err := d.Create(2, segment.MinSize, func() {}); !vfs.IsFull(err) {
			t.Errorf("got %v, want ENOSPC", err)
		}
		wantDeleted(t, d, made)
	})
	t.Run("not used", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, made := settleOne(t, 0)
			await.Sleep(store.SpareTime - 1)
			d.Spares.DropExpired()
			if _, err := os.Lstat(made); err != nil {
				t.Errorf("it was dropped early: %v", err)
			}
			await.Sleep(time.Nanosecond)
			<-d.Sweeper.Due // the goroutine that makes segments drops it
			d.Spares.DropExpired()
			wantDeleted(t, d, made)
		})
	})
}

// TestDeletedSegmentsAreFreedForTheNextOne makes a segment while two that are
// settled can be reused, and a third one is not freed yet. If the space is
// needed, all is freed, except the file that is reused.
func TestDeletedSegmentsAreFreedForTheNextOne(t *testing.T) {
	const size = segment.MinSize
	for _, c := range []struct {
		name          string
		size          int64
		freed, reused bool
	}{
		{"they fit into Size", 3 * size, false, true},
		{"they do not", 3*size - 1, true, true},
		{"the disk is full", 9 * size, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, freed := vfstest.NewFaulty(vfs.OS()), false
			d, made := settle(t, Config{fs: fsys}, 2)
			d.Sweeper.Add(&store.Spent{Unmap: func() { freed = true }})
			before, err := vfs.OS().Lstat(made[0])
			must(t, err)
			kept, err := os.Open(made[0]) // no other file gets its ID
			must(t, err)
			defer kept.Close()
			if !c.reused {
				must(t, os.Truncate(made[0], segment.HeaderSize), os.Truncate(made[1], segment.HeaderSize)) // no longer usable
				fsys.Fail(vfstest.Fault{Fits: func(op vfstest.Op, _ string) bool {
					return op == vfstest.OpPreallocate && d.Spares.Unfreed() > 0
				}, Err: syscall.ENOSPC})
			}
			s := newSink(Config{SegmentSize: size, Size: c.size})
			s.chain.dir, s.chain.number = d, 2
			s.chain.active.Store(segment.New(make([]byte, size), segment.Identity{Size: size}, nil))
			must(t, s.maker.makeNext())
			after, err := vfs.OS().Lstat(d.Name(store.SegmentName(3)))
			must(t, err)
			if reused := after.ID == before.ID; freed != c.freed || reused != c.reused {
				t.Errorf("freed: %t, reused: %t; want %t and %t", freed, reused, c.freed, c.reused)
			}
			s.maker.discardNext()
		})
	}
}

// TestSparesAreDeletedAfterAWhile settles segments, and logs nothing more.
func TestSparesAreDeletedAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := spoolDir(t)
		f := &far{do: down}
		s := open(t, dir, f, Config{
			SegmentSize: segment.MinSize, Sync: SyncNever, OnError: func(error) {},
		})
		spares := func() []string {
			names, err := filepath.Glob(filepath.Join(dir, "*"+store.MadeSuffix))
			must(t, err)
			return names
		}
		for s.chain.active.Load().Number <= 4 {
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		}
		synctest.Wait() // the next segment, which would use a spare, is made
		f.set(nil)
		must(t, s.Flush(context.Background()))
		synctest.Wait()
		if len(spares()) == 0 {
			t.Error("got no spares")
		}
		await.Sleep(2 * store.SpareTime)
		if left := spares(); len(left) > 0 {
			t.Errorf("got %q after %v", left, 2*store.SpareTime)
		}
	})
}

// A meddler is a file system that calls meddle once, after a segment was opened
// to be read.
type meddler struct {
	vfs.FS
	name   string
	meddle func()
}

func (m *meddler) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := m.FS.Open(name, flag, perm)
	if filepath.Base(name) == m.name && m.meddle != nil {
		do := m.meddle
		m.meddle = nil
		do()
	}
	return f, err
}

// TestInspectBesideReuse inspects a spool whose owner reuses a segment after
// the file was opened: the segment counts as removed, and nothing as damaged.
func TestInspectBesideReuse(t *testing.T) {
	prepare := func(t *testing.T) (dir string, m *meddler) {
		f := &far{do: down}
		dir = spoolDir(t)
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Size: 1 << 20, Sync: SyncNever,
			OnError: func(error) {}})
		n := 0
		log := func() {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, reusedSize)))
			n++
		}
		for s.chain.active.Load().Number < 3 {
			log()
			awaitNext(s)
		}
		first := filepath.Join(dir, store.SegmentName(1))
		return dir, &meddler{vfs.OS(), filepath.Base(first), func() {
			f.set(nil)
			must(t, s.Flush(context.Background()))
			for { // until its file is another segment, or was deleted because that took a second
				_, err := os.Lstat(first + store.MadeSuffix)
				if errors.Is(err, fs.ErrNotExist) {
					return
				}
				must(t, err)
				log()
				awaitNext(s)
			}
		}}
	}
	t.Run("records", func(t *testing.T) {
		dir, m := prepare(t)
		v := inspected(t, dir)
		v.fs = m
		got := walkAll(v, 0)
		if m.meddle != nil || got.gaps[GapRemoved] == 0 || len(got.gaps) > 1 || len(got.lines) > 0 && got.seqs[0] < v.Segments[1].First {
			t.Errorf("got %d lines and the gaps %v, want those of the first segment to be removed", len(got.lines), got.gaps)
		}
	})
	t.Run("headers", func(t *testing.T) {
		dir, m := prepare(t)
		v, err := inspect(m, dir)
		if err != nil || m.meddle != nil || len(v.Bad)+len(v.Unread) > 0 || v.Segments[0].Number == 1 {
			t.Errorf("got %+v, %v", v, err)
		}
	})
}
