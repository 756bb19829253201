// SPDX-License-Identifier: Apache-2.0

package vfs

import "syscall"

const (
	sysFstatat   = syscall.SYS_NEWFSTATAT
	sysRenameat2 = 316
)
