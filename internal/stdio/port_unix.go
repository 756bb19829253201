// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package stdio

import (
	"errors"
	"os"
	"syscall"
)

// isGone reports whether a pipe no longer has a reader.
func isGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// ownFile returns a file with another descriptor. os.File raises SIGPIPE only
// for descriptors 1 and 2.
func ownFile(f *os.File) *os.File {
	conn, err := f.SyscallConn()
	if err != nil {
		return f
	}
	own := -1
	_ = conn.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if own, err = syscall.Dup(int(fd)); err == nil {
			syscall.CloseOnExec(own)
		}
	})
	if err != nil || own < 0 {
		return f
	}
	return os.NewFile(uintptr(own), f.Name())
}
