// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var (
	endSignals    = []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	reopenSignals = []os.Signal{syscall.SIGHUP}
)

func isReopen(sig os.Signal) bool { return sig == syscall.SIGHUP }

// raise ends the process by sig, so that its parent sees the reason in its
// status (143 for SIGTERM, 130 for SIGINT, as a shell shows them). Process 1 of
// a container cannot die of a signal that it does not handle; it exits with
// that number.
func raise(sig os.Signal) {
	n := sig.(syscall.Signal)
	if os.Getpid() != 1 {
		signal.Reset(n)
		if syscall.Kill(os.Getpid(), n) == nil {
			// Another thread may get the signal first, and may have to wait for
			// a processor.
			time.Sleep(10 * time.Second)
		}
	}
	os.Exit(128 + int(n))
}
