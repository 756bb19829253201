// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A sweeper frees the memory and the disk space of deleted segments and copies.
// Unmapping and deleting 8 MiB at once keeps a processor in the kernel for
// milliseconds, during which it runs nothing else. So the goroutine that makes
// segments does it in parts and rests between them. Before it runs, after it
// has ended, and when it does not keep up, callers free their memory at once.
type sweeper struct {
	Due chan struct{} // signals that there is something to do

	mu      sync.Mutex
	running bool
	list    []*Spent // oldest first
}

// A Spent is the rest of a deleted segment or copy, or the pages of a segment
// that is not read soon.
type Spent struct {
	Pages []byte   // pages of an unused mapping that are not freed yet; they are freed from the end
	Unmap func()   // called after that; nil if there is nothing to do
	file  vfs.File // the file without a name; nil if another goroutine deletes it
	size  int64    // size of file, once determined
}

const (
	unmappedPart = 256 << 10 // bytes of a mapping that are freed at a time
	DeletedPart  = 512 << 10 // bytes of a file freed at a time: about a tenth of a millisecond
	ManySpent    = 3         // from this number on, parts are freed without a rest
	MostSpent    = 4         // maximum length of the list, since each has a descriptor and memory
)

func newSweeper() *sweeper { return &sweeper{Due: make(chan struct{}, 1)} }

// Add adds x to the list, or frees it at once. If x has nothing to free, it
// takes no place in the list.
func (w *sweeper) Add(x *Spent) {
	if x.Unmap == nil && x.file == nil {
		return
	}
	w.mu.Lock()
	if w.running && len(w.list) < MostSpent {
		w.list = append(w.list, x)
		w.mu.Unlock()
		Signal(w.Due)
		return
	}
	w.mu.Unlock()
	x.freeAll()
}

// freeMapped frees the memory of a mapped segment, and its file if it was
// deleted.
func (w *sweeper) freeMapped(pages []byte, unmap func(), deleted vfs.File) {
	w.Add(&Spent{Pages: pages, Unmap: unmap, file: deleted})
}

// Start makes Add queue its arguments for Part, until Stop.
func (w *sweeper) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = true
}

// Stop frees everything.
func (w *sweeper) Stop() {
	w.mu.Lock()
	w.running = false
	w.mu.Unlock()
	w.All()
}

// Count returns the number of entries that are not freed completely.
func (w *sweeper) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.list)
}

// Part frees one part, and returns the number of entries that are not freed
// completely. It must not be called concurrently.
func (w *sweeper) Part() (left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) == 0 {
		return 0
	}
	x := w.list[0]
	w.mu.Unlock()
	last := x.part()
	w.mu.Lock()
	if last {
		w.list = w.list[1:]
	}
	return len(w.list)
}

// All frees everything, and reports whether there was anything to free.
func (w *sweeper) All() bool {
	has := w.Count() > 0
	for w.Part() > 0 {
	}
	return has
}

// freeAll frees everything at once.
func (x *Spent) freeAll() {
	if x.Unmap != nil {
		x.Unmap()
	}
	if x.file != nil {
		x.close()
	}
}

// part frees one part, and reports whether that was the last one.
func (x *Spent) part() (last bool) {
	switch {
	case len(x.Pages) > 0:
		from := max(len(x.Pages)-unmappedPart, 0)
		segment.DiscardPages(x.Pages[from:])
		x.Pages = x.Pages[:from]
	case x.Unmap != nil:
		x.Unmap()
		x.Unmap = nil
		return x.file == nil
	case x.file == nil:
		return true
	case x.size == 0:
		info, _ := x.file.Stat()
		if info.Links > 0 || info.Size <= DeletedPart {
			return x.close() // the file has another name, is small, or its size is unknown
		}
		x.size = info.Size
	case x.size <= DeletedPart:
		return x.close()
	default:
		x.size -= DeletedPart
		if x.file.Truncate(x.size) != nil {
			return x.close() // frees all of its space
		}
	}
	return false
}

func (x *Spent) close() (last bool) {
	_ = x.file.Close() // the contents are not needed
	return true
}

// Signal signals the goroutine that receives from c, unless a signal is
// pending.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
