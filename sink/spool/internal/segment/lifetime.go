// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"sync/atomic"

	"github.com/nib-log/nib/internal/vfs"
)

// A lifetime is how long the memory of a segment is kept: the last holder that
// calls Release frees it. The holders are the deliveries together, whose last
// one calls Done or DoneFor; the copier; and whoever accesses the memory for a
// moment, after Retain.
type lifetime struct {
	free    func()                           // releases the memory; nil without a file
	reuse   func(pages []byte, unmap func()) // if not nil, gets the memory instead of free
	file    vfs.File                         // the file once it is deleted, for free to release
	holders atomic.Int32

	// A reader has left without waiting for all writers: the memory is never
	// released. The spool's lock protects it.
	abandoned bool
}

// Retain keeps the memory until a matching call of Release. A new segment has
// one holder.
func (l *lifetime) Retain() { l.holders.Add(1) }

// Release frees the memory when the last holder is gone. A segment without a
// file has nothing to free.
func (l *lifetime) Release() {
	if l.holders.Add(-1) == 0 && l.free != nil {
		l.free()
	}
}

// Abandon lets the reader leave while calls may still be writing: the memory is
// never released. The spool's lock is held.
func (l *lifetime) Abandon() { l.abandoned = true }

// IsAbandoned reports whether Abandon was called. The spool's lock is held.
func (l *lifetime) IsAbandoned() bool { return l.abandoned }

// DoneFor is Done for a segment whose file is kept: once all holders have
// released the memory, reuse gets it instead of the function that frees it.
func (l *lifetime) DoneFor(reuse func(pages []byte, unmap func())) {
	l.reuse = reuse
	l.Release()
}

// Done is called when the reader no longer needs the memory, with the file if
// it is deleted. An abandoned mapping stays.
func (l *lifetime) Done(file vfs.File) {
	if l.free != nil && !l.abandoned {
		l.file = file
		l.Release()
	} else if file != nil {
		_ = file.Close() // nothing was written
	}
}
