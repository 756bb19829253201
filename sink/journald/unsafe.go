// SPDX-License-Identifier: Apache-2.0

//go:build linux

package journald

import (
	"runtime"
	"syscall"
	"unsafe"
)

// memfdNumber is the number of memfd_create(2), which package syscall does not
// have, by architecture; 0 if it is not known.
var memfdNumber = map[string]uintptr{
	"386": 356, "amd64": 319, "arm": 385, "arm64": 279, "loong64": 279,
	"mips": 4354, "mipsle": 4354, "mips64": 5314, "mips64le": 5314,
	"ppc64": 360, "ppc64le": 360, "riscv64": 279, "s390x": 350,
}[runtime.GOARCH]

// memfdName is the name of the files in /proc.
var memfdName = [...]byte{'n', 'i', 'b', '-', 'j', 'o', 'u', 'r', 'n', 'a', 'l', 0}

// memfdCreate makes a file in memory.
func memfdCreate(flags uintptr) (fd int, err error) {
	if memfdNumber == 0 {
		return -1, syscall.ENOSYS
	}
	// In bounds: the kernel reads up to the NUL that ends memfdName, which is
	// never moved or freed.
	n, _, errno := syscall.Syscall(memfdNumber, uintptr(unsafe.Pointer(&memfdName)), flags, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
