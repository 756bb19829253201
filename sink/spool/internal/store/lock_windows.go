// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// lockFile locks the file called name by opening it exclusively, until the
// handle is closed or the process ends.
func lockFile(_ vfs.FS, name string) (io.Closer, error) {
	text, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(text, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, vfs.ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return handle(h), nil
}

type handle syscall.Handle

func (h handle) Close() error { return syscall.CloseHandle(syscall.Handle(h)) }
