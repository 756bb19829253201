// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// readyFile is where the monitor reports that it is ready.
const readyFile = 3

// startAndAwait starts a monitor, in a new session, so that signals of a
// terminal or a shell do not reach it.
func startAndAwait(cmd *exec.Cmd, timeout time.Duration) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err
	}
	_ = r.SetReadDeadline(time.Now().Add(timeout))
	if _, err = r.Read(make([]byte, 1)); err == nil {
		return nil
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return fmt.Errorf("%s was started once more and did not report within %v (%w; %v)", cmd.Path,
		timeout, err, cmd.ProcessState)
}

// sayReady reports to startAndAwait that the monitor is ready.
func sayReady() {
	f := os.NewFile(readyFile, "ready")
	_, _ = f.Write([]byte{1})
	_ = f.Close()
}
