// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nib-log/nib/allocs/command"
	"github.com/nib-log/nib/allocs/internal/must"
)

// A go command removes its temporary directory if it is interrupted, not if it
// is killed.
func TestAnInterruptedRunLeavesNothingBehind(t *testing.T) {
	bin, temp := t.TempDir(), t.TempDir()
	ready := filepath.Join(bin, "ready")
	must.Succeed(t, syscall.Mkfifo(ready, 0o600))
	const fake = "#!/bin/sh\nmkdir $TMPDIR/go-build1\n" +
		"trap 'rmdir $TMPDIR/go-build1; exit 1' INT\n: >$READY\nwhile :; do sleep 0.01; done\n"
	must.Succeed(t, os.WriteFile(filepath.Join(bin, "go"), []byte(fake), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temp)
	t.Setenv("READY", ready)
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt) // a shell cannot trap a signal that its parent ignores
	defer signal.Stop(handled)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(ready) // until the command has written to it
		cancel()
	}()
	cmd := command.New()
	cmd.SetArgs([]string{"-C", bin, "--plain"})
	if err := cmd.ExecuteContext(ctx); err == nil || err.Error() != "interrupted" || command.ExitCode(err) != command.Failure {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("%v is left behind, %v", left, err)
	}
}
