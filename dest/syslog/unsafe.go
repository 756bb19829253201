// SPDX-License-Identifier: Apache-2.0

//go:build linux

package syslog

import (
	"runtime"
	"syscall"
	"unsafe"
)

// getsockoptNumber is the number of getsockopt(2) by architecture; 0 if it is
// not known. Package syscall has it as well, except for 386, where the call is
// newer than the package.
var getsockoptNumber = map[string]uintptr{
	"386": 365, "amd64": 55, "arm": 295, "arm64": 209, "loong64": 209,
	"mips": 4173, "mipsle": 4173, "mips64": 5054, "mips64le": 5054,
	"ppc64": 340, "ppc64le": 340, "riscv64": 209, "s390x": 365,
}[runtime.GOARCH]

const tcpInfoOption = 11 // TCP_INFO

// getTCPInfo reads TCP_INFO of a socket.
func getTCPInfo(fd uintptr, info *tcpInfo) error {
	if getsockoptNumber == 0 {
		return syscall.ENOSYS
	}
	size := uint32(unsafe.Sizeof(*info))
	// The writes are in bounds: the kernel writes at most size bytes to info,
	// which has that size, and four bytes to size. Both stay alive until the call
	// has returned.
	_, _, errno := syscall.Syscall6(getsockoptNumber, fd, syscall.IPPROTO_TCP, tcpInfoOption,
		uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return errno
	}
	if uintptr(size) <= unsafe.Offsetof(info.lastAckRecv) {
		return syscall.ENOSYS
	}
	return nil
}
