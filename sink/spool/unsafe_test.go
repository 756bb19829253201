// SPDX-License-Identifier: Apache-2.0

//go:build linux

package spool

import (
	"os"
	"syscall"
	"unsafe"
)

// cutPower makes the ext4 file system that dir is on stop as if the power were
// gone: nothing reaches the disk any more, the journal neither.
func cutPower(dir string) error {
	const (
		shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN
		noLogFlush = 2
	)
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	how := uint32(noLogFlush)
	// how is the 4 bytes that the kernel reads, and lives until the call returns.
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how)))
	if errno != 0 {
		return errno
	}
	return nil
}

// minorFaults returns how many pages this thread has touched for the first time.
func minorFaults() int64 {
	const thread = 1 // RUSAGE_THREAD
	var use syscall.Rusage
	if err := syscall.Getrusage(thread, &use); err != nil {
		return -1
	}
	return int64(use.Minflt)
}
