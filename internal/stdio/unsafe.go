// SPDX-License-Identifier: Apache-2.0

//go:build linux

package stdio

import (
	"syscall"
	"time"
	"unsafe"
)

// The events of poll(2).
const (
	pollOut  = 0x4
	pollErr  = 0x8
	pollHup  = 0x10
	pollNval = 0x20
)

// pollFd is struct pollfd of poll(2).
type pollFd struct {
	fd      int32
	events  int16
	revents int16
}

// poll waits until fd can be written to, or is broken, and returns the event,
// or 0 after d. If it cannot wait it returns pollOut, so that a write returns
// the error. 0 allocs.
//
// A signal ends the wait early, even one of length 0: the kernel checks for
// signals before the time. (Go's scheduler sends them, to preempt.) A wait that
// ends early does no harm, but mistaking it for room would make the write to
// another owner's full pipe block.
//
// ppoll(2) because package syscall has no poll, and select(2) is limited to
// 1024 descriptors.
func poll(fd int, d time.Duration) int16 {
	p := pollFd{fd: int32(fd), events: pollOut}
	t := syscall.NsecToTimespec(int64(max(d, 0)))
	// Both pointers refer to local variables that have the size of the kernel's
	// structures and stay valid until the call returns.
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1,
			uintptr(unsafe.Pointer(&t)), 0, 0, 0)
		switch {
		case errno == syscall.EINTR && d <= 0:
			continue
		case errno != 0:
			return pollOut
		case n == 0:
			return 0
		}
		return p.revents
	}
}
