// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd || netbsd

package vfs

import (
	"syscall"
	"time"
)

func modTime(st *syscall.Stat_t) time.Time {
	return time.Unix(int64(st.Mtimespec.Sec), int64(st.Mtimespec.Nsec))
}
