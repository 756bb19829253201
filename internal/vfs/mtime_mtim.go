// SPDX-License-Identifier: Apache-2.0

//go:build openbsd || dragonfly

package vfs

import (
	"syscall"
	"time"
)

func modTime(st *syscall.Stat_t) time.Time {
	return time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec))
}
