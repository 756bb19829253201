// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

const mapped = true

// populateWrite is MADV_POPULATE_WRITE of Linux 5.14.
const populateWrite = 23

// populated is how many bytes are touched in one go, in about a tenth of a
// millisecond.
const populated = 64 << 10

// mapFile maps the first size bytes of f, which are allocated.
func mapFile(f vfs.File, size int) (b []byte, free func(), err error) {
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	return b, func() { _ = syscall.Munmap(b) }, nil // it fails for a wrong argument only
}

// hurry lets the first touch of a page bring in no pages behind it, which takes
// milliseconds, until populate is called.
func hurry(g *segment) {
	if g.twin == nil {
		_ = syscall.Madvise(g.b, syscall.MADV_RANDOM) // it is slower without
	}
}

// populate touches all pages of a mapping, also while others use it, and reports
// false if the kernel cannot. It takes milliseconds of a processor, for which others
// would wait where there are few: so it rests after each part.
func populate(g *segment, rest func()) bool {
	if g.twin != nil {
		return true
	}
	_ = syscall.Madvise(g.b, syscall.MADV_NORMAL) // it is slower without
	for part := range slices.Chunk(g.b, populated) {
		if syscall.Madvise(part, populateWrite) != nil {
			return false
		}
		rest()
	}
	return true
}
