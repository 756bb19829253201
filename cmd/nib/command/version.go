// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/spf13/cobra"

	allocs "github.com/nib-log/nib/allocs/command"
)

func version() string { return allocs.Version("github.com/nib-log/nib/cmd/nib") }

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of nib and of Go",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "nib %s\n", version())
			return err
		},
	}
}
