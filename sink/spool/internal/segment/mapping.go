// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/nib-log/nib/internal/vfs"
)

// Clear makes the mapping of a settled segment zeros, in memory only. No other
// goroutine may use it.
func Clear(b []byte, rest func()) (err error) {
	defer endAccess(debug.SetPanicOnFault(true), &err)
	for part := range slices.Chunk(b, Window) {
		populate(part) // otherwise the stores below fault the pages in
		clear(part)
		rest()
	}
	return nil
}

// endAccess is deferred with the result of SetPanicOnFault.
func endAccess(before bool, err *error) {
	debug.SetPanicOnFault(before)
	if p := recover(); p != nil {
		*err = fmt.Errorf("access a mapping: %v", p)
	}
}

// Renew makes a segment of a mapping that was cleared. The header is on the
// disk when it returns, and the page after it is zeros there: a start must be
// able to see that no record was written.
func Renew(
	b []byte, unmap func(), id Identity, free func(pages []byte, unmap func(), deleted vfs.File),
) (g *Segment, err error) {
	defer endAccess(debug.SetPanicOnFault(true), &err)
	PutHeader(b, id)
	first := b[:HeaderSize+PageSize]
	if err := syncPages(first); err != nil {
		return nil, fmt.Errorf("sync a header: %w", err)
	}
	populate(first) // the pages must not be written to before they are dirty again
	return mapped(b, unmap, id, free), nil
}

// PrefaultNew touches all pages of a mapping for writing. It runs on a
// goroutine that no call waits for, since the first touch of a page of ext4
// takes up to some milliseconds. No other goroutine can see the segment yet. It
// writes zeros first: the pages then enter the cache many at a time, and as
// large pages where the file system supports them. That takes a third of the
// time of touching them one by one, and less when they are freed.
func PrefaultNew(g *Segment, f vfs.File, rest func()) (err error) {
	defer endAccess(debug.SetPanicOnFault(true), &err)
	if g.twin != nil {
		return nil
	}
	for at := HeaderSize; at < len(g.b); at += len(zeroWindow) {
		part := g.b[at:min(at+len(zeroWindow), len(g.b))]
		if _, err := f.WriteAt(zeroWindow[:len(part)], int64(at)); err != nil {
			return err
		}
		if !populate(part) { // an older kernel
			for i := 0; i < len(part); i += PageSize {
				part[i] = 0
			}
		}
		rest()
	}
	return nil
}
