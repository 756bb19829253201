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

// mapFile maps the first size bytes of f, which must be allocated.
func mapFile(f vfs.File, size int) (b []byte, free func(), err error) {
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	return b, func() { _ = syscall.Munmap(b) }, nil // fails only for invalid arguments
}

// AdviseRandom turns off readahead, which takes milliseconds at the first touch
// of a page, until Prefault is called.
// A failure only costs time.
func AdviseRandom(b []byte) { _ = syscall.Madvise(b, syscall.MADV_RANDOM) }

// Prefault touches all pages of a mapping while other goroutines use it. It
// takes milliseconds of processor time, for which others would wait if there
// are few processors, so it calls rest after each part.
func Prefault(b []byte, rest func()) {
	_ = syscall.Madvise(b, syscall.MADV_NORMAL) // a failure only costs time
	for part := range slices.Chunk(b, warmed) {
		if !populate(part) {
			return
		}
		rest()
	}
}

// warmed is the number of bytes that are touched at a time, in about a tenth of
// a millisecond.
const warmed = 256 << 10

// populate touches pages of a mapping for writing, and returns false if the
// kernel does not support that.
func populate(pages []byte) bool { return syscall.Madvise(pages, populateWrite) == nil }

// syncPages makes pages of a mapping survive a power failure. Other pages of
// the file are not written.
func syncPages(pages []byte) error {
	_, _, errno := syscall.Syscall(syscall.SYS_MSYNC, address(pages), uintptr(len(pages)),
		syscall.MS_SYNC)
	if errno != 0 {
		return errno
	}
	return nil
}

// Prefetch prefetches the pages of a mapping that DiscardPages has discarded,
// if any. It uses a system call, because in a page fault a goroutine holds its
// processor while the disk is read, and a stop of the world waits for it.
func Prefetch(pages []byte) {
	if len(pages) > 0 {
		_ = syscall.Madvise(pages, populateRead) // otherwise the first access faults them in
	}
}

// DiscardPages frees pages of a mapping. Their contents remain in the file.
// Otherwise they are freed with the mapping.
func DiscardPages(pages []byte) { _ = syscall.Madvise(pages, syscall.MADV_DONTNEED) }
