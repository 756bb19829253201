// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

const CanMap = true

// MADV_POPULATE_READ and MADV_POPULATE_WRITE of Linux 5.14.
const (
	populateRead  = 22
	populateWrite = 23
)

// mapFile maps the first size bytes of f, which are allocated.
func mapFile(f vfs.File, size int) (b []byte, free func(), err error) {
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	return b, func() { _ = syscall.Munmap(b) }, nil // it fails for a wrong argument only
}

// AdviseRandom lets the first touch of a page bring in no pages behind it,
// which takes milliseconds, until Prefault is called.
func AdviseRandom(b []byte) { _ = syscall.Madvise(b, syscall.MADV_RANDOM) } // it is slower without

// Prefault touches all pages of a mapping while others use it. It takes
// milliseconds of a processor, for which others would wait where there are few:
// so it rests after each part.
func Prefault(b []byte, rest func()) {
	_ = syscall.Madvise(b, syscall.MADV_NORMAL) // it is slower without
	for part := range slices.Chunk(b, warmed) {
		if !populate(part) {
			return
		}
		rest()
	}
}

// warmed is how many bytes are touched in one go, in about a tenth of a
// millisecond.
const warmed = 256 << 10

// populate touches pages of a mapping for writing, and reports false if the
// kernel cannot.
func populate(pages []byte) bool { return syscall.Madvise(pages, populateWrite) == nil }

// Prefetch prefetches the pages of a mapping that DiscardPages has given back,
// if there are any. It does so in a system call: in a page fault a goroutine
// holds its processor while the disk is read, and a stop of the world waits for
// it.
func Prefetch(pages []byte) {
	if len(pages) > 0 {
		_ = syscall.Madvise(pages, populateRead) // else the first access does it
	}
}

// DiscardPages gives pages of a mapping back, which remain in the file.
func DiscardPages(pages []byte) { _ = syscall.Madvise(pages, syscall.MADV_DONTNEED) } // they go with the mapping otherwise
