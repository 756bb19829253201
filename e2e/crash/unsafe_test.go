// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// wordsOf returns b as counters. b begins at a page and is mapped until the
// process ends, and the result has no more words than fit into it.
func wordsOf(b []byte) []atomic.Uint64 {
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&b[0])), len(b)/8)
}

// dieOfTraps has the kernel end this process at once when a thread executes a
// breakpoint, as by SIGKILL, instead of notifying the runtime.
func dieOfTraps() error {
	var action [4]uint64 // handler 0, which is SIG_DFL, and neither flags nor mask
	none := syscall.Rlimit{}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &none); err != nil {
		return err
	}
	// action is the 32 bytes that the kernel reads, and is alive until the
	// call returns.
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTRAP), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
