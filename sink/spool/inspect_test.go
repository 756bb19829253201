// SPDX-License-Identifier: Apache-2.0

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
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A finding is everything that Records yields.
type finding struct {
	lines [][]byte
	seqs  []uint64
	gaps  map[GapKind]uint64 // numbers
	kinds map[GapKind]int    // places
}

func walkAll(v *View, from uint64) finding {
	f := finding{gaps: map[GapKind]uint64{}, kinds: map[GapKind]int{}}
	for r, g := range v.Records(from) {
		if g.Kind != "" {
			f.gaps[g.Kind] += g.Numbers
			f.kinds[g.Kind]++
			continue
		}
		f.lines, f.seqs = append(f.lines, r.Line), append(f.seqs, r.Seq)
	}
	return f
}

func inspected(t testing.TB, dir string) *View {
	t.Helper()
	v, err := Inspect(dir)
	must(t, err)
	return v
}

// stateOf returns everything that an inspection could change.
func stateOf(t testing.TB, dir string) string {
	t.Helper()
	var b bytes.Buffer
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		fmt.Fprintln(&b, e.Name(), info.Mode(), info.ModTime().UnixNano(), len(data), string(data))
	}
	return b.String()
}

// TestInspectShowsTheOwner inspects a spool while it is open and afterwards.
func TestInspectShowsTheOwner(t *testing.T) {
	dir := spoolDir(t)
	begin := time.Now()
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if batch[0].Seq > 3 {
			return delivery.Result{}, errDown, true
		}
		return delivery.Result{Accepted: min(len(batch), int(4-batch[0].Seq))}, nil, false // numbers 1 to 3
	})
	s := open(t, dir, f, Config{Name: "far", SegmentSize: segment.MinSize, Drain: time.Millisecond})
	for n := range 10 {
		r := record(nib.LevelInfo, n, 100)
		r.Time = begin.Add(time.Duration(n) * time.Second).UnixNano()
		must(t, s.WriteRecord(r))
	}
	for s.chain.Position() != 4 {
		awaitNext(s)
	}
	v := inspected(t, dir)
	if v.Owner != OwnerAlive || v.Numbers != 10 {
		t.Errorf("open: got owner %v and %d numbers, want alive and 10", v.Owner, v.Numbers)
	}
	if err := s.Close(); !errors.Is(err, ErrPending) {
		t.Errorf("got %v, want ErrPending", err)
	}
	before := stateOf(t, dir)
	v = inspected(t, dir)
	want := []DestinationInfo{{Name: "far", Known: true, Settled: 4, Pending: 7}}
	if v.Owner != OwnerNone || v.Numbers != 10 || !slices.Equal(v.Destinations, want) ||
		v.ID != s.chain.dir.Spool {
		t.Errorf("closed: got %+v", v)
	}
	if v.First.UnixNano() != begin.UnixNano() || v.Last.Sub(v.First) != 9*time.Second {
		t.Errorf("got times from %v to %v, want from %v and 9 s", v.First, v.Last, begin)
	}
	if got := walkAll(v, 0); len(got.lines) != 10 || len(got.gaps) != 0 {
		t.Errorf("got %d records and the gaps %v", len(got.lines), got.gaps)
	}
	n := uint64(4)
	for r := range v.Unsettled("far") {
		if r.Seq != n || r.Spool != s.chain.stream {
			t.Errorf("got number %d of spool %x, want %d of %x", r.Seq, r.Spool, n, s.chain.stream)
		}
		n++
	}
	if n != 11 || v.Pending("far") != 7 || v.Pending("another") != 10 {
		t.Errorf("got records up to %d, %d and %d pending; want 11, 7 and 10", n, v.Pending("far"), v.Pending("another"))
	}
	if stateOf(t, dir) != before {
		t.Error("Inspect has changed something")
	}
}

// inspectOnce compares Inspect with a start on a spool that is damaged at
// random. A start counts the records of an absent segment as damaged. It
// returns in how many places there was damage.
func inspectOnce(t testing.TB, root string, seed uint64) int {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	w := newWorld(rng, vfs.Boot())
	w.save(t, root)
	for _, g := range w.segments {
		if rng.IntN(2) == 0 {
			must(t, os.WriteFile(filepath.Join(root, store.CopyName(g.Number)), g.Bytes(), 0o600))
		}
	}
	files, err := os.ReadDir(root)
	must(t, err)
	for range rng.IntN(4) {
		f := filepath.Join(root, files[rng.IntN(len(files))].Name())
		if _, err := os.Lstat(f); err == nil {
			harm(t, rng, f)
		}
	}
	v, err := Inspect(root)
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // all segments were removed
	}
	must(t, err)
	got := walkAll(v, 0)
	lines, st := startOn(t, root)
	if !slices.EqualFunc(got.lines, lines, bytes.Equal) {
		t.Errorf("got %d records, a start delivers %d", len(got.lines), len(lines))
	}
	missing := got.gaps[GapUnfinished] + got.gaps[GapDamaged] + got.gaps[GapAbsent]
	if missing != st.Lost()+st.Unfinished || len(v.Bad) != st.Bad {
		t.Errorf("got the gaps %v and the bad files %v, a start counts %+v", got.gaps, v.Bad, st)
	}
	if !slices.IsSorted(got.seqs) {
		t.Error("out of order")
	}
	return got.kinds[GapDamaged]
}

func TestInspectSeesWhatAStartDelivers(t *testing.T) {
	root := spoolDir(t)
	places := 0
	for seed := range images() {
		places += inspectOnce(t, root, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		must(t, os.RemoveAll(root))
	}
	if places == 0 && !testing.Short() {
		t.Error("no image was damaged")
	}
}

// FuzzInspect searches for damage that Inspect and a start interpret
// differently.
func FuzzInspect(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { inspectOnce(t, spoolDir(t), seed) })
}

// keeper writes n lines to a spool of small segments and closes it.
func keeper(t *testing.T, n int, sync SyncPolicy) (dir string) {
	t.Helper()
	dir = spoolDir(t)
	s := open(t, dir, nil, Config{SegmentSize: segment.MinSize, Size: 64 << 20, Sync: sync,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	for i := range n {
		must(t, s.WriteRecord(record(nib.LevelInfo, i, 200)))
	}
	must(t, s.Close())
	return dir
}

// TestRecordsShowsGaps damages a spool of three segments and checks the gaps.
func TestRecordsShowsGaps(t *testing.T) {
	const lines = 700 // 247 in a segment
	for _, c := range []struct {
		name    string
		harm    func(t *testing.T, names []string)
		kind    GapKind
		numbers uint64
	}{
		{"a bit in a line", func(t *testing.T, names []string) { flip(t, names[0], segment.HeaderSize+100) }, GapDamaged, 1},
		{"a bit in the last line", func(t *testing.T, names []string) {
			flip(t, names[2], segment.HeaderSize+int64(segment.Align(segment.RecordHead+200))*205+100)
		}, GapDamaged, 0},
		{"a segment is gone", func(t *testing.T, names []string) { must(t, os.Remove(names[1])) }, GapAbsent, 247},
		{"a segment is cut", func(t *testing.T, names []string) {
			must(t, os.Truncate(names[0], segment.HeaderSize+2*int64(segment.Align(segment.RecordHead+200))))
		}, GapDamaged, 245},
		{"the last segment is cut", func(t *testing.T, names []string) { must(t, os.Truncate(names[2], segment.HeaderSize)) }, GapDamaged, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := keeper(t, lines, SyncNever)
			names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
			must(t, err)
			if len(names) != 3 {
				t.Fatalf("got %d segments, want 3", len(names))
			}
			c.harm(t, names)
			got := walkAll(inspected(t, dir), 0)
			if got.kinds[c.kind] != 1 || len(got.kinds) != 1 || got.gaps[c.kind] != c.numbers {
				t.Errorf("got the gaps %v in %v places, want %d of kind %v", got.gaps, got.kinds, c.numbers, c.kind)
			}
			if c.numbers > 0 && len(got.lines) != lines-int(c.numbers) {
				t.Errorf("got %d records", len(got.lines))
			}
		})
	}
}

func flip(t *testing.T, name string, at int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	b[at] ^= 4
	must(t, os.WriteFile(name, b, 0o600))
}

// TestCopiesHeal damages segments that have copies: nothing is missing.
func TestCopiesHeal(t *testing.T) {
	dir := keeper(t, 700, SyncSoon)
	for i, harm := range []func(name string){
		func(name string) { flip(t, name, segment.HeaderSize+100) },
		func(name string) { must(t, os.Remove(name)) },
		func(name string) { must(t, os.Truncate(name, 5000)) },
	} {
		harm(filepath.Join(dir, store.SegmentName(uint64(i+1))))
	}
	if got := walkAll(inspected(t, dir), 0); len(got.lines) != 700 || len(got.gaps) != 0 {
		t.Errorf("got %d records and the gaps %v", len(got.lines), got.gaps)
	}
}

// TestRecordsOfASegmentRemovedAfterInspect deletes a segment between Inspect
// and Records.
func TestRecordsOfASegmentRemovedAfterInspect(t *testing.T) {
	dir := keeper(t, 700, SyncNever)
	v := inspected(t, dir)
	must(t, os.Remove(filepath.Join(dir, store.SegmentName(v.Segments[0].Number))))
	got := walkAll(v, 0)
	if got.gaps[GapRemoved] != 247 || len(got.gaps) != 1 || len(got.lines) != 453 {
		t.Errorf("got %d records and the gaps %v, want 453 and 247 removed", len(got.lines), got.gaps)
	}
	if got := walkAll(v, 690); len(got.lines) != 11 || len(got.gaps) != 0 {
		t.Errorf("from 690: got %d records and the gaps %v, want 11 and none", len(got.lines), got.gaps)
	}
}

// TestInspectWhileWritten inspects a spool while it is written, delivered and
// deleted: nothing is damaged or absent, and the records are contiguous.
func TestInspectWhileWritten(t *testing.T) {
	bothWays(t, inspectWhileWritten)
}

func inspectWhileWritten(t *testing.T, written bool) {
	dir := spoolDir(t)
	s := open(t, dir, &far{}, Config{SegmentSize: segment.MinSize, Size: 1 << 20, Written: written,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	var stop atomic.Bool
	ended := make(chan error, 4)
	for w := range cap(ended) {
		go func() {
			for n := 0; !stop.Load(); n++ {
				if err := s.WriteRecord(record(nib.LevelInfo, w, 40+n%300)); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	records := 0
	for round, begin := 0, time.Now(); round < 40 || records == 0 && time.Since(begin) < eventTimeout; round++ {
		runtime.Gosched() // writers, where there is one processor
		v, err := Inspect(dir)
		if errors.Is(err, errMoved) {
			continue // the writers had the processors during each listing
		}
		must(t, err)
		if v.Owner != OwnerAlive || len(v.Bad) > 0 {
			t.Errorf("got owner %v and the bad files %v", v.Owner, v.Bad)
		}
		got := walkAll(v, 0)
		records += len(got.lines)
		for kind, n := range got.gaps {
			if kind != GapRemoved && kind != GapUnfinished {
				t.Errorf("got %d numbers that are %v", n, kind)
			}
		}
		if !slices.IsSorted(got.seqs) {
			t.Error("out of order")
		}
	}
	stop.Store(true)
	for range cap(ended) {
		must(t, <-ended)
	}
	if records == 0 {
		t.Error("no record was ever seen")
	}
	must(t, s.Flush(context.Background()))
}

// TestInspectBesideACall reads the first word of a record before it is claimed,
// and its bytes after it is copied: Records reports nothing about it, since its
// number is after the last one.
func TestInspectBesideACall(t *testing.T) {
	dir := spoolDir(t)
	s := open(t, dir, nil, Config{SegmentSize: segment.MinSize})
	for n := range 10 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	g := s.chain.active.Load()
	end, _, _ := g.Claimed()
	f, err := os.OpenFile(filepath.Join(dir, store.SegmentName(g.Number)), os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(bytes.Repeat([]byte{'x'}, 100), int64(end)+segment.RecordHead)
	must(t, err)
	if got := walkAll(inspected(t, dir), 0); len(got.lines) != 10 || len(got.kinds) != 0 {
		t.Errorf("got %d records and the gaps %v, want 10 and none", len(got.lines), got.kinds)
	}
	must(t, s.Close()) // no process has it open any more
	if got := walkAll(inspected(t, dir), 0); len(got.lines) != 10 || got.kinds[GapDamaged] != 1 {
		t.Errorf("got %d records and the gaps %v, want 10 and one that is damaged", len(got.lines), got.kinds)
	}
}

// TestInspectErrors inspects directories without a spool, and ones that the
// system does not let it read.
func TestInspectErrors(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Inspect(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	}
	dir := keeper(t, 10, SyncNever)
	v, err := inspect(unreadable{vfs.OS()}, dir)
	must(t, err)
	if v.Owner != OwnerUnknown || len(v.Bad) != 0 || len(v.Unread) != 2 {
		t.Errorf("got owner %v, the bad files %v and %v that cannot be read, want unknown, 0 and 2", v.Owner, v.Bad, v.Unread)
	}
}

// unreadable is a file system that refuses to open files.
type unreadable struct{ vfs.FS }

func (unreadable) Open(string, int, fs.FileMode) (vfs.File, error) { return nil, fs.ErrPermission }

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"a/lock", "b/c/0000000000000001.seg", "b/d/lock", "e/f/g/lock", "h/other"} {
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(d)), 0o700), os.WriteFile(filepath.Join(root, d), nil, 0o600))
	}
	for dir, want := range map[string][]string{
		"": {"a", "b/c", "b/d"}, "a": {"a"}, "b": {"b/c", "b/d"}, "e": {"e/f/g"}, "h": nil,
	} {
		got, err := Find(filepath.Join(root, dir))
		must(t, err)
		for i := range got {
			got[i], _ = filepath.Rel(root, got[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q: got %q, want %q", dir, got, want)
		}
	}
	if _, err := Find(filepath.Join(root, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestInspectDoesNotMakeOpenFail opens a spool while an inspection looks for
// its owner, which takes the lock: Open tries again.
func TestInspectDoesNotMakeOpenFail(t *testing.T) {
	m := vfstest.NewMem(nil)
	c := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
	must(t, open(t, memDir, nil, c).Close())
	tried := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: "lock", Times: 50, Err: vfs.ErrLocked, Reached: func() { tried++ }})
	must(t, open(t, memDir, nil, c).Close())
	if tried != 50 {
		t.Errorf("the lock was tried %d times without success, want 50", tried)
	}
}
