// SPDX-License-Identifier: Apache-2.0

//go:build linux

package vfstest

import (
	"os"
	"syscall"
	"unsafe"
)

// CutPower shuts down the ext4 file system of dir like a power failure: nothing
// reaches the disk afterwards, not even the journal.
func CutPower(dir string) error {
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
	// how has the 4 bytes that the kernel reads, and stays alive until the call
	// returns.
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown,
		uintptr(unsafe.Pointer(&how)))
	if errno != 0 {
		return errno
	}
	return nil
}
