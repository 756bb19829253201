// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the system kill the child when the test is killed.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
