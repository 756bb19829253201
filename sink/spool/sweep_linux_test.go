// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// counted is a file system that counts the bytes of segments on the disk, with
// a name or without.
type counted struct {
	unsynced
	mu         sync.Mutex
	size       map[vfs.ID]int64
	most, last int64
}

type countedFile struct {
	vfs.File
	c *counted
}

func (c *counted) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.unsynced.Open(name, flag, perm)
	if err != nil || !strings.Contains(name, store.SegmentExt) {
		return f, err
	}
	return countedFile{f, c}, nil
}

// set notes the size of a file.
func (f countedFile) set(size int64) {
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.size[info.ID] = size
	f.c.last = 0
	for _, n := range f.c.size {
		f.c.last += n
	}
	f.c.most = max(f.c.most, f.c.last)
}

// peak returns the most bytes that there were.
func (c *counted) peak() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

func (f countedFile) Preallocate(size int64) error {
	f.set(size)
	return f.File.Preallocate(size)
}

func (f countedFile) Truncate(size int64) error {
	f.set(size)
	return f.File.Truncate(size)
}

func (f countedFile) Close() error {
	if info, err := f.Stat(); err == nil && info.Links == 0 {
		f.set(0)
	}
	return f.File.Close()
}

// TestSizeHoldsForWhatIsGivenBack fills a spool of three segments, and empties
// it while lines are logged: including deleted segments that are not freed yet,
// its disk use never exceeds the size.
func TestSizeHoldsForWhatIsGivenBack(t *testing.T) {
	const segment = 4 * store.DeletedPart
	c := &counted{unsynced: unsynced{vfs.OS()}, size: map[vfs.ID]int64{}}
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		for c.peak() < 3*segment { // until the spool is full
			runtime.Gosched()
		}
		return delivery.Result{Accepted: len(batch)}, nil, false
	})
	s := open(t, spoolDir(t), f, Config{SegmentSize: segment, Size: 3 * segment, MinFree: 1,
		Sync: SyncNever, fs: c,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	for n := range 20 * segment / 10_000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 10_000)))
	}
	must(t, s.Flush(context.Background()), s.Close())
	if st := checkIdentity(t, s); st.Lost() > 0 {
		t.Errorf("got %+v", st)
	}
	if c.most != 3*segment || c.last > segment {
		t.Errorf("up to %d bytes on the disk, %d in the end; want %d, and a segment", c.most, c.last, 3*segment)
	}
}
