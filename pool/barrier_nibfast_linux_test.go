// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && amd64 && !race

package pool

import (
	"syscall"
	"testing"
)

// Without membarrier(2) the world is stopped, which takes much longer.
func TestKernelExecutesTheBarrier(t *testing.T) {
	const query = 0
	supported, _, errno := syscall.RawSyscall(sysMembarrier, query, 0, 0)
	if errno != 0 || supported&membarrierPrivateExpedited == 0 {
		t.Skipf("the kernel has no such barrier: %v", errno)
	}
	if !expedited() {
		t.Error("got no barrier from a kernel that has it")
	}
}
