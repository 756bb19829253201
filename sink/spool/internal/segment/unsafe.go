// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"sync/atomic"
	"unsafe"

	"github.com/nib-log/nib/internal/publish"
)

// word returns the first eight bytes of the record at offset at, which hold its
// state. They are read and written atomically.
//
// The slice expression checks that they are within b. They are aligned, because
// at is a multiple of 8, and b begins at a page (mapped) or at an object of
// more than 16 bytes without pointers (heap), which Go aligns to 8. Callers
// keep b alive while they use the result.
func word(b []byte, at int) *atomic.Uint64 {
	p := b[at : at+8 : at+8]
	return (*atomic.Uint64)(unsafe.Pointer(&p[0]))
}

// setState stores the first word of the record at offset at, after all earlier
// stores, so these are in the file if the process dies afterwards. It does not
// wait until the whole record has left the store buffer, which takes as long as
// fetching its cache lines. Later loads may come first: a writer that has to
// see a reader's stores loads them after Reserve, which orders both.
func setState(b []byte, at int, w uint64) {
	p := b[at : at+8 : at+8]
	publish.Uint64((*uint64)(unsafe.Pointer(&p[0])), stored(w))
}

// address returns the address of b, which must not be on the heap.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// within reports whether an address is in b. The address of b is compared, not
// used.
func within(addr uintptr, b []byte) bool {
	return addr-address(b) < uintptr(len(b)) // a lower address wraps around
}
