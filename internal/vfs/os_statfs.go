// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || dragonfly

package vfs

import (
	"io/fs"
	"syscall"
)

func (f *osFile) Free() (int64, error) {
	var st syscall.Statfs_t
	err := retry(func() error { return syscall.Fstatfs(f.fd, &st) })
	if err != nil {
		return 0, &fs.PathError{Op: "fstatfs", Path: f.Name(), Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
