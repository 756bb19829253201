// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"sync"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A sweeper gives back what deleted segments and copies take up. To unmap and
// to delete 8 MiB at once keeps a processor in the kernel for milliseconds, in
// which it runs nothing else; so that is done in parts, by the goroutine that
// makes segments, which rests between them. Before it runs, after it has ended,
// and when it does not keep up, callers free their memory at once.
type sweeper struct {
	due chan struct{} // there is something to do

	mu      sync.Mutex
	running bool
	list    []*spent // oldest first
}

// A spent is what is left of a segment or of a copy, or the pages of one that
// is not read soon.
type spent struct {
	pages []byte   // of an unused mapping, from its beginning on: those that are not freed yet
	unmap func()   // what is left to do then, nil if nothing
	file  vfs.File // it has no name any more; nil if another goroutine deletes it
	size  int64    // of it, from when it is looked at on
}

const (
	unmappedPart = 256 << 10 // bytes of a mapping that are given back at a time
	deletedPart  = 512 << 10 // and of a file: about a tenth of a millisecond
	manySpent    = 3         // so many are given back without a rest
	mostSpent    = 4         // more than so many do not wait: each has a descriptor, and memory
)

func newSweeper() *sweeper { return &sweeper{due: make(chan struct{}, 1)} }

// add takes charge of x.
func (w *sweeper) add(x *spent) {
	w.mu.Lock()
	if w.running && len(w.list) < mostSpent {
		w.list = append(w.list, x)
		w.mu.Unlock()
		poke(w.due)
		return
	}
	w.mu.Unlock()
	x.giveBack()
}

// begin lets what is added wait for part, until end.
func (w *sweeper) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = true
}

// end gives back what there is.
func (w *sweeper) end() {
	w.mu.Lock()
	w.running = false
	w.mu.Unlock()
	w.all()
}

// count returns of how many files something is left.
func (w *sweeper) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.list)
}

// part frees one part, and returns of how many files something is left. One
// goroutine calls it.
func (w *sweeper) part() (left int) {
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

// all frees everything, and reports whether there was anything.
func (w *sweeper) all() bool {
	has := w.count() > 0
	for w.part() > 0 {
	}
	return has
}

// giveBack gives everything back at once.
func (x *spent) giveBack() {
	if x.unmap != nil {
		x.unmap()
	}
	if x.file != nil {
		x.close()
	}
}

// part frees one part, and reports whether that was the last one.
func (x *spent) part() (last bool) {
	switch {
	case len(x.pages) > 0:
		from := max(len(x.pages)-unmappedPart, 0)
		segment.DiscardPages(x.pages[from:])
		x.pages = x.pages[:from]
	case x.unmap != nil:
		x.unmap()
		x.unmap = nil
		return x.file == nil
	case x.file == nil:
		return true
	case x.size == 0:
		info, err := x.file.Stat()
		if err != nil || info.Links > 0 || info.Size <= deletedPart {
			return x.close() // it has another name, or is deleted quickly
		}
		x.size = info.Size
	case x.size <= deletedPart:
		return x.close()
	default:
		x.size -= deletedPart
		if x.file.Truncate(x.size) != nil {
			return x.close() // which does it all
		}
	}
	return false
}

func (x *spent) close() (last bool) {
	_ = x.file.Close() // nothing in it counts
	x.file = nil
	return true
}
