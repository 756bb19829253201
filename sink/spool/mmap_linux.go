// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

const mapped = true

// populateWrite is MADV_POPULATE_WRITE of Linux 5.14.
const populateWrite = 23

// mapFile maps the first size bytes of f, which are allocated, and touches all
// pages for writing: that is work for a goroutine that nobody waits for, since the
// first touch of a page of ext4 takes up to some milliseconds.
func mapFile(f vfs.File, size int) (b []byte, drop func(), err error) {
	b, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	if syscall.Madvise(b, populateWrite) != nil { // an older kernel
		for i := headerSize; i < len(b); i += 4096 {
			b[i] = 0
		}
	}
	return b, func() { _ = syscall.Munmap(b) }, nil // it fails for a wrong argument only
}
