// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	allocs "github.com/nib-log/nib/allocs/command"
)

// newAllocs returns the command of the module allocs, with its exit codes.
func newAllocs() *cobra.Command {
	c := allocs.New()
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := run(c, args); err != nil {
			return exit{allocs.ExitCode(err), lines(err)}
		}
		return nil
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return exit{allocs.ExitCode(err), err}
	})
	return c
}

// lines returns the lines of an error, such as the output of the go command in
// it, as errors that are joined.
func lines(err error) error {
	var all []error
	for line := range strings.SplitSeq(strings.TrimSuffix(err.Error(), "\n"), "\n") {
		all = append(all, errors.New(strings.ReplaceAll(line, "\t", "    ")))
	}
	return errors.Join(all...)
}
