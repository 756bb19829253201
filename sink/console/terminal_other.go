// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package console

import (
	"io"
	"syscall"
)

// terminalOf returns nil on systems where the standard library cannot detect a
// terminal.
func terminalOf(io.Writer) syscall.RawConn { return nil }

func windowWidth(uintptr) int { return 0 }
