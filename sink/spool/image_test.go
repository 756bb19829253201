// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// An unsynced file system does not wait for the disk.
type unsynced struct{ vfs.FS }

type unsyncedFile struct{ vfs.File }

func (u unsynced) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := u.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

func (unsynced) SyncDir(string) error { return nil }
func (unsyncedFile) Sync() error      { return nil }
func (unsyncedFile) SyncData() error  { return nil }

// A claim is the reservation of a writer in the model, and its progress.
type claim struct {
	g        *segment.Segment
	at, size int
	seq      uint64
	r        *nib.Record
	step     int // 0 reserved, 1 marked, 2 copied in part, 3 committed
}

// advance does the next step of Segment.Write; the last step calls Write
// itself.
func (c *claim) advance(rng *rand.Rand) {
	b := c.g.Bytes()[c.at : c.at+c.size : c.at+c.size]
	switch c.step++; c.step {
	case 1:
		binary.LittleEndian.PutUint64(b, uint64(uint32(-int32(c.size))))
	case 2:
		whole := make([]byte, c.size)
		segment.PutRecord(whole, c.r, -1, c.seq, c.g.Gen, c.g.Seed())
		copy(b[8:], whole[8:8+rng.IntN(c.size-8)])
	case 3:
		c.g.Write(c.at, c.size, c.seq, c.r, -1)
	}
}

// A world is a spool whose process died with many writers, each at some step.
type world struct {
	segments []*segment.Segment
	claims   []*claim
}

func newWorld(rng *rand.Rand, boot uint64) *world {
	w := &world{}
	grow := func(first uint64) *segment.Segment {
		n := uint64(len(w.segments) + 1)
		g := segment.New(make([]byte, segment.MinSize), segment.Identity{Spool: 0xabc, Number: n, Gen: 1, Stream: 5, Boot: boot, Size: segment.MinSize}, nil)
		g.Begin(segment.Start{First: first})
		w.segments = append(w.segments, g)
		return g
	}
	g := grow(1)
	var open []*claim
	for range rng.IntN(400) {
		if len(open) > 0 && rng.IntN(3) > 0 {
			i := rng.IntN(len(open))
			open[i].advance(rng)
			if open[i].step == 3 {
				open = append(open[:i], open[i+1:]...)
			}
			continue
		}
		r := record(nib.LevelInfo, len(w.claims), 20+rng.IntN(1+rng.IntN(2000)))
		size := segment.RecordSize(r, -1)
		at, seq, ok := g.Reserve(size)
		if !ok {
			g.Seal()
			_, next, _ := g.Claimed()
			g = grow(next)
			at, seq, _ = g.Reserve(size)
		}
		c := &claim{g: g, at: at, size: size, seq: seq, r: r}
		w.claims, open = append(w.claims, c), append(open, c)
	}
	return w
}

// save writes the files.
func (w *world) save(t testing.TB, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	for _, g := range w.segments {
		must(t, os.WriteFile(filepath.Join(dir, store.SegmentName(g.Number)), g.Bytes(), 0o600))
	}
}

// committed returns the records whose calls have returned, and how many numbers
// before the last of them, or in segments before the last, have none.
func (w *world) committed() (lines [][]byte, unfinished uint64) {
	behind := w.segments[len(w.segments)-1].First
	for _, c := range w.claims {
		if c.step == 3 {
			lines = append(lines, c.r.Line)
			behind = max(behind, c.seq+1)
		}
	}
	return lines, behind - 1 - uint64(len(lines))
}

// start opens the spool in dir and returns the lines that it delivers.
func startOn(t testing.TB, dir string) (lines [][]byte, st Stats) {
	t.Helper()
	f := &far{}
	s, err := Open(dir, f, Config{SegmentSize: segment.MinSize, fs: unsynced{vfs.OS()}})
	if err != nil {
		t.Fatalf("Open refuses: %v", err)
	}
	must(t, s.WriteRecord(record(nib.LevelInfo, 999_999, 60)), s.Flush(context.Background()), s.Close())
	lines = f.take()
	if n := len(lines); n == 0 || !bytes.Equal(lines[n-1], record(nib.LevelInfo, 999_999, 60).Line) {
		t.Fatalf("the line that was logged after the start is not the last of %d", n)
	}
	for i := 1; i < len(f.seqs); i++ {
		if f.seqs[i] <= f.seqs[i-1] {
			t.Fatalf("number %d after %d", f.seqs[i], f.seqs[i-1])
		}
	}
	return lines[:len(lines)-1], checkIdentity(t, s)
}

func images() uint64 { return uint64(seed.Times(5000, 60, 30)) }

// TestDeathAtAnyStep lets the process die with writers at any step. Exactly the
// committed records are delivered, and the rest is counted.
func TestDeathAtAnyStep(t *testing.T) {
	root := spoolDir(t)
	for seed := range images() {
		w := newWorld(rand.New(rand.NewPCG(seed, 1)), vfs.Boot())
		w.save(t, root)
		got, st := startOn(t, root)
		want, unfinished := w.committed()
		if len(got) != len(want) || st.Unfinished != unfinished || st.Lost() != 0 {
			t.Errorf("got %d lines, %+v; want %d lines and %d unfinished", len(got), st, len(want), unfinished)
		}
		for i := range min(len(got), len(want)) {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("line %d: got %q, want %q", i, got[i], want[i])
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		must(t, os.RemoveAll(root))
	}
}

// checkSubset checks that got is a subsequence of want.
func checkSubset(t testing.TB, got, want [][]byte) {
	t.Helper()
	for _, line := range got {
		for len(want) > 0 && !bytes.Equal(want[0], line) {
			want = want[1:]
		}
		if len(want) == 0 {
			t.Fatalf("got a line that was never committed, or out of order: %q", line)
		}
		want = want[1:]
	}
}

// TestPowerLoss loses sectors of the records, as in a power failure before they
// were written. Only committed records are delivered, in order.
func TestPowerLoss(t *testing.T) {
	root := spoolDir(t)
	var lost, all int
	for seed := range images() {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(rng, 77) // after another boot
		want, _ := w.committed()
		for _, g := range w.segments {
			for range rng.IntN(6) {
				at := segment.HeaderSize + rng.IntN((segment.MinSize-segment.HeaderSize)/512)*512
				clear(g.Bytes()[at : at+512])
			}
		}
		w.save(t, root)
		got, st := startOn(t, root)
		checkSubset(t, got, want)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, st)
		}
		lost, all = lost+len(want)-len(got), all+len(want)
		must(t, os.RemoveAll(root))
	}
	t.Logf("%d of %d lines were in lost sectors", lost, all)
}

// harm damages a file of a spool at random.
func harm(t testing.TB, rng *rand.Rand, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	switch rng.IntN(6) {
	case 0:
		must(t, os.Remove(name))
		return
	case 1:
		b = b[:rng.IntN(len(b)+1)]
	case 2:
		b = append(b, "junk that someone has appended\n"...)
	case 3:
		clear(b[:min(len(b), rng.IntN(5000))])
	case 4:
		for i := range b[:min(len(b), 88)] {
			b[i] = byte(rng.Uint32())
		}
	default:
		for range 1 + rng.IntN(5) {
			if len(b) > 0 {
				b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			}
		}
	}
	must(t, os.WriteFile(name, b, 0o600))
}

// TestDamagedFiles damages files of a partly delivered spool. Each start
// succeeds, and delivers only committed records.
func TestDamagedFiles(t *testing.T) {
	root := spoolDir(t)
	for seed := range images() {
		damageOnce(t, root, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		must(t, os.RemoveAll(root))
	}
}

func damageOnce(t testing.TB, root string, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	w := newWorld(rng, vfs.Boot())
	want, _ := w.committed()
	w.save(t, root)
	cursor := make([]byte, store.SlotGap+store.SlotSize)
	store.PutSlot(cursor, 4, store.Position{Spool: 0xabc, Seq: 1 + rng.Uint64N(1+uint64(len(want)))}, nil)
	store.PutSlot(cursor[store.SlotGap:], 5, store.Position{Spool: 0xabc, Seq: 1 + rng.Uint64N(1+uint64(len(want)))}, nil)
	must(t, os.WriteFile(filepath.Join(root, defaultName+".cursor"), cursor, 0o600))
	files, err := os.ReadDir(root)
	must(t, err)
	for range 1 + rng.IntN(3) {
		f := filepath.Join(root, files[rng.IntN(len(files))].Name())
		if _, err := os.Lstat(f); err == nil {
			harm(t, rng, f)
		}
	}
	got, _ := startOn(t, root)
	checkSubset(t, got, want)
}

// FuzzDamagedFiles searches for damage that makes a start fail or forges a
// line.
func FuzzDamagedFiles(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { damageOnce(t, spoolDir(t), seed) })
}
