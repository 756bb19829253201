// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"path/filepath"
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
)

// changes are the operations that change files.
var changes = []vfstest.Op{
	vfstest.OpWrite, vfstest.OpRemove, vfstest.OpRename, vfstest.OpCreate, vfstest.OpTruncate,
}

// A fullStart is a case of TestDeathAfterAFullStart.
type fullStart struct {
	name    string
	was, is [2]int64 // number of segments, and their size in units of segment.MinSize
	down    bool     // the destination is down
	both    bool     // there is another one, which accepts everything
	none    bool     // there is no destination
}

// A deathImage is what a death leaves.
type deathImage struct {
	files *vfstest.Mem
	got   [2]*ledger
	n     int // calls that have returned
}

// TestDeathAfterAFullStart takes an image of the files before each call that
// changes one, after a start with a full spool whose headers have counts: while
// the oldest segment is dropped again and again, or while all are delivered.
// The process after a death at any of these points reports each dropped line
// once.
func TestDeathAfterAFullStart(t *testing.T) {
	selected := seed.Sample(t, 8, 12)
	for _, x := range []fullStart{
		{"dropped", [2]int64{2, 1}, [2]int64{2, 1}, true, false, false},
		{"dropped, three segments", [2]int64{3, 1}, [2]int64{3, 1}, true, false, false},
		{"dropped, less space", [2]int64{3, 2}, [2]int64{3, 1}, true, false, false},
		{"dropped, larger segments", [2]int64{4, 1}, [2]int64{2, 2}, true, false, false},
		{"dropped for one", [2]int64{2, 1}, [2]int64{2, 1}, true, true, false},
		{"dropped for none", [2]int64{2, 1}, [2]int64{2, 1}, false, false, true},
		{"settled", [2]int64{2, 1}, [2]int64{2, 1}, false, false, false},
		{"settled, less space", [2]int64{2, 2}, [2]int64{2, 1}, false, false, false},
		{"settled by two", [2]int64{2, 2}, [2]int64{2, 1}, false, true, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			var images []deathImage
			synctest.Test(t, func(t *testing.T) { images = x.images(t, selected) })
			t.Logf("%d images", len(images))
			for i, image := range images {
				synctest.Test(t, func(t *testing.T) { x.check(t, i, image) })
			}
		})
	}
}

// config returns the Config for a number of segments.
func (x *fullStart) config(m *vfstest.Mem, segments [2]int64) Config {
	size := segments[1] * segment.MinSize
	return Config{
		SegmentSize: size, Size: segments[0] * size, fs: m, Sync: SyncNever, Drain: 1,
		slow: time.Second, OnError: func(error) {},
	}
}

// images fills a spool, and starts with it.
func (x *fullStart) images(t *testing.T, selected func() bool) (images []deathImage) {
	m, got := vfstest.NewMem(nil), [2]*ledger{newLedger(), newLedger()}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	n := fillWithCounts(t, x.config(m, x.was))
	c := x.config(m, x.is)
	c.OnFull = []FullRule{{nib.LevelTrace, ActionDropOld, 0}}
	var to delivery.Destination = got[0]
	switch {
	case x.down:
		to = &far{do: down}
	case x.none:
		to = nil
	}
	if x.both {
		c = both(got[1], c)
	}
	var mu sync.Mutex
	for _, op := range changes {
		m.Fail(vfstest.Fault{Op: op, Path: "*", Reached: func() {
			for _, l := range []*sync.Mutex{&mu, &got[0].mu, &got[1].mu} {
				l.Lock() // nothing arrives between the files and the ledgers
				defer l.Unlock()
			}
			if !selected() {
				return
			}
			images = append(images, deathImage{
				m.CrashClone(vfstest.Everything), [2]*ledger{got[0].clone(), got[1].clone()}, n,
			})
		}})
	}
	s := open(t, memDir, to, c)
	if !x.down {
		must(t, s.Flush(context.Background()))
	}
	await.Sleep(time.Second)
	for range 500 {
		_ = s.WriteRecord(record(nib.LevelInfo, n, 1000))
		mu.Lock()
		n++
		mu.Unlock()
	}
	closeDown(t, s)
	return images
}

// fillWithCounts fills a spool, so that the headers of all segments have
// different counts of dropped lines, and returns the number of lines.
func fillWithCounts(t *testing.T, c Config) (n int) {
	s := open(t, memDir, nil, c)
	for full := false; !full; n++ {
		size := 1000
		if n%20 == 0 || n > 70 && n%7 == 0 {
			size = int(2 * c.SegmentSize)
		}
		full = s.WriteRecord(record(nib.LevelInfo, n, size)) == errFull
	}
	must(t, s.Close())
	return n
}

// check starts after the death, in a segment of its own, and delivers
// everything. A call that has not returned may have counted its line.
func (x *fullStart) check(t *testing.T, death int, image deathImage) {
	c := x.config(image.files, x.is)
	c.Size, c.boot = 0, 2
	if x.both {
		c = both(image.got[1], c)
	}
	s := open(t, memDir, image.got[0], c)
	must(t, s.Flush(context.Background()), s.Close())
	for i, l := range image.got[:1+len(c.Also)] {
		reported, lines, once := l.count(t)
		missing := image.n - once
		if x.none { // a segment may be counted as dropped that could not be deleted any more
			reported = min(reported, missing)
		}
		if lines != once || reported != missing && reported != missing+1 {
			t.Errorf("death %d, destination %d: %d lines, %d of them once, of %d; "+
				"notices report %d, want %d", death, i, lines, once, image.n, reported, missing)
		}
	}
}
