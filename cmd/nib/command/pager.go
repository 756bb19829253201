// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"io"
	"os"
	"os/exec"

	"github.com/nib-log/nib/cmd/nib/term"
)

// page returns a writer to the pager if w is a terminal, and otherwise w, and a
// function that waits until the pager has ended.
func page(ctx context.Context, w io.Writer, off bool) (io.Writer, func() error) {
	none := func() error { return nil }
	if _, ok := term.Terminal(w); !ok || off {
		return w, none
	}
	command, ok := pagerCommand(os.Getenv, exec.LookPath)
	if !ok {
		return w, none
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		// Quit if one screen suffices, pass colours through, do not clear the
		// screen.
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return w, none
	}
	if err := cmd.Start(); err != nil {
		return w, none
	}
	return in, func() error {
		_ = in.Close() // the pager may have gone
		_ = cmd.Wait() // the pager's exit code does not matter
		return nil
	}
}

// pagerCommand returns the command of the pager, if there is one.
func pagerCommand(
	getenv func(string) string, lookPath func(string) (string, error),
) (command string, ok bool) {
	for _, name := range []string{"NIB_PAGER", "PAGER"} {
		if command = getenv(name); command != "" {
			return command, command != "cat"
		}
	}
	if _, err := lookPath("less"); err != nil || getenv("TERM") == "dumb" {
		return "", false
	}
	return "less", true
}
