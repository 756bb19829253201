// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package setup

import (
	"os"
	"syscall"
)

var (
	endSignals    = []os.Signal{os.Interrupt, syscall.SIGTERM}
	reopenSignals []os.Signal
)

func isReopen(os.Signal) bool { return false }

// raise ends the process with the number that a shell on Unix shows for sig.
func raise(sig os.Signal) {
	n := 2
	if sig == syscall.SIGTERM {
		n = 15
	}
	os.Exit(128 + n)
}
