// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"

	allocs "github.com/nib-log/nib/allocs/command"
)

// newAllocs returns the command of the module allocs, with its exit codes.
func newAllocs() *cobra.Command {
	c := allocs.New()
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := run(c, args); err != nil {
			return exit{allocs.ExitCode(err), err}
		}
		return nil
	}
	return c
}
