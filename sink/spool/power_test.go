// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A powerCut is the disk after a power failure, and what was known before it.
type powerCut struct {
	files   *vfstest.Mem
	lines   int            // number of logged lines; record makes line n, of lengthOf(n) bytes
	notices int            // at most so many lines of the spool itself, which may be damaged, too
	synced  map[int]bool   // lines that must be on the disk, or settled
	settled map[int]uint64 // delivered lines, and their numbers
	deleted uint64         // records below this number were in segments that are deleted
	spool   uint64         // a spool without segments becomes another one, with its own numbers
	last    uint64         // the highest number of it that was delivered
}

// TestSyncedLinesSurvivePowerLoss cuts the power at random calls on the file
// system, of three processes in turn, whose destination refuses some batches.
// After each cut every synced line arrives, none is made up, none that was
// settled in a deleted segment arrives again, and no more lines are counted as
// missing than are missing, notices included.
func TestSyncedLinesSurvivePowerLoss(t *testing.T) {
	cuts, synced, kept := 0, 0, 0
	for n := range images() {
		rng := rand.New(rand.NewPCG(seed.Of(t), n))
		c := &powerCut{
			files: vfstest.NewMem(nil), synced: map[int]bool{}, settled: map[int]uint64{},
		}
		must(t, c.files.MkdirAll(filepath.Dir(memDir), 0o700))
		for boot := uint64(1); boot <= 3; boot++ {
			var next []*powerCut
			synctest.Test(t, func(t *testing.T) { next = c.log(t, boot, rng) })
			for i, x := range next {
				promised := len(x.synced)
				synctest.Test(t, func(t *testing.T) { x.check(t, boot+1) })
				if t.Failed() {
					t.Fatalf("case %d, process %d, cut %d", n, boot, i)
				}
				cuts, synced, kept, c = cuts+1, synced+promised, kept+len(x.synced), x
			}
		}
	}
	t.Logf("%d cuts, %d lines were synced, and %d others were left", cuts, synced, kept-synced)
}

// log logs to the spool in c. An error waits until it is synced, and with it
// all lines before.
func (c *powerCut) log(t *testing.T, boot uint64, rng *rand.Rand) (cuts []*powerCut) {
	f, begin := &far{}, c.lines
	mood := rand.New(rand.NewPCG(rng.Uint64(), 0))
	chance := rand.New(rand.NewPCG(rng.Uint64(), 0))
	f.do = func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if mood.IntN(3) == 0 {
			return delivery.Result{}, errDown, true
		}
		return delivery.Result{Accepted: mood.IntN(len(batch) + 1)}, nil, false
	}
	var mu sync.Mutex // protects c
	fsys := vfstest.NewFaulty(c.files)
	fsys.Fail(vfstest.Fault{Fits: func(op vfstest.Op, _ string) bool {
		mu.Lock()
		defer mu.Unlock()
		if chance.IntN(60) == 0 && (op != vfstest.OpWrite || chance.IntN(20) == 0) {
			cuts = append(cuts, c.cut(t, f, chance))
		}
		return false
	}})
	s := open(t, memDir, maybeEager(f, mood), Config{
		SegmentSize: segment.MinSize, fs: fsys, boot: boot, Sync: SyncErrors,
		SyncDelay: time.Duration(1 + rng.IntN(2e7)), SyncWait: eventTimeout, Drain: 1,
		OnError: func(error) {},
	})
	mu.Lock()
	if c.spool != s.chain.dir.Spool {
		c.spool, c.last = s.chain.dir.Spool, 0
	}
	mu.Unlock()
	for range rng.IntN(400) {
		mu.Lock()
		r := record(nib.LevelInfo, c.lines, lengthOf(c.lines))
		c.lines++
		mu.Unlock()
		if rng.IntN(30) == 0 {
			r.Level = nib.LevelError
		}
		must(t, s.WriteRecord(r))
		mu.Lock()
		for ; r.Level == nib.LevelError && begin < c.lines; begin++ {
			c.synced[begin] = true
		}
		mu.Unlock()
		if rng.IntN(8) == 0 {
			await.Sleep(time.Duration(rng.IntN(1e7)))
		}
	}
	mu.Lock()
	cuts = append(cuts, c.cut(t, f, chance))
	mu.Unlock()
	_ = s.Close() // lines are left
	return cuts
}

func lengthOf(n int) int { return 20 + n*7919%1500 }

// cut cuts the power of a copy of c. It must see every deleted file in the
// cursor, and every position of the cursor in what f has got.
func (c *powerCut) cut(t *testing.T, f *far, rng *rand.Rand) *powerCut {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := &powerCut{
		lines: c.lines, synced: maps.Clone(c.synced), settled: maps.Clone(c.settled),
		notices: c.notices, spool: c.spool, last: c.last,
	}
	for i, line := range f.lines {
		x.settled[lineNumber(t, line)] = f.seqs[i]
		x.last = max(x.last, f.seqs[i])
	}
	maps.DeleteFunc(x.synced, func(n int, _ bool) bool { return x.settled[n] > 0 })
	now := c.files.CrashClone(vfstest.Everything)
	names, _ := now.ReadDir(memDir) // there is none yet
	names = slices.DeleteFunc(names, func(name string) bool {
		return filepath.Ext(name) != store.SegmentExt
	})
	for i, name := range names {
		b := memFile(t, now, filepath.Join(memDir, name))
		x.notices += bytes.Count(b, []byte("lines lost: the spool"))
		if i == 0 {
			x.deleted = binary.LittleEndian.Uint64(append(b, make([]byte, 72)...)[64:])
		}
	}
	pick := rng.IntN
	if rng.IntN(3) == 0 {
		pick = vfstest.Nothing
	}
	x.files = c.files.CrashClone(pick)
	return x
}

func lineNumber(t *testing.T, line []byte) (n int) {
	t.Helper()
	_, err := fmt.Sscanf(string(line), `{"n":%d,`, &n)
	must(t, err)
	return n
}

// check delivers what is left. Afterwards, as all of it was on the disk, these
// lines are the synced ones.
func (c *powerCut) check(t *testing.T, boot uint64) {
	f := &far{}
	files := c.files.CrashClone(vfstest.Everything)
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: files, boot: boot})
	if s.chain.opened <= c.last && s.chain.dir.Spool == c.spool {
		t.Errorf("numbers begin at %d, and %d was delivered", s.chain.opened, c.last)
	}
	must(t, s.WriteRecord(record(nib.LevelInfo, c.lines, lengthOf(c.lines))))
	must(t, s.Flush(context.Background()))
	before, got := -1, map[int]bool{}
	for i, line := range f.lines {
		n := lineNumber(t, line)
		switch seq := c.settled[n]; {
		case !bytes.Equal(line, record(nib.LevelInfo, n, lengthOf(n)).Line) || n > c.lines:
			t.Errorf("got %.60q, which was not logged", line)
		case n <= before || i > 0 && f.seqs[i] <= f.seqs[i-1]:
			t.Errorf("line %d with number %d follows line %d", n, f.seqs[i], before)
		case seq > 0 && seq < c.deleted:
			t.Errorf("line %d was settled in a deleted segment, and is delivered again", n)
		}
		before, got[n] = n, true
	}
	missing := uint64(c.notices)
	for n := range c.lines + 1 {
		if seq := c.settled[n]; !got[n] && (seq == 0 || seq >= c.deleted) {
			missing++
		}
		if (c.synced[n] || n == c.lines) && !got[n] {
			t.Errorf("line %d of %d was synced and is lost", n, c.lines)
		}
	}
	st := checkIdentity(t, s)
	if st.Lost()+st.Unfinished > missing {
		t.Errorf("got %+v, want %d lines lost or unfinished at most", st, missing)
	}
	delete(got, c.lines)
	c.synced = got
}
