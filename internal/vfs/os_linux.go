// SPDX-License-Identifier: Apache-2.0

package vfs

import (
	"io/fs"
	"syscall"
	"time"
)

func modTime(st *syscall.Stat_t) time.Time {
	return time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec))
}

func (f *osFile) SyncData() error {
	err := retry(func() error { return syscall.Fdatasync(f.fd) })
	if err != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

// Preallocate reserves room, or writes zeros where the file system cannot.
func (f *osFile) Preallocate(size int64) error {
	err := retry(func() error { return syscall.Fallocate(f.fd, 0, 0, size) })
	switch err {
	case nil:
		return nil
	case syscall.EOPNOTSUPP, syscall.ENOSYS:
		return fill(f.File, size)
	}
	return &fs.PathError{Op: "fallocate", Path: f.Name(), Err: err}
}
