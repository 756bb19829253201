// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/demo"
)

func newDemo() *cobra.Command {
	var c demo.Config
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Log real HTTP requests to files and check that every line is there",
		Long: `Starts an HTTP service on the loopback interface and sends it requests over
keep-alive connections. Its access lines go through nib to a rotating file; the first
few are shown. The files are then read back: each line must be there once, in
order, valid, and say what the client saw.

The exit code is 0 only if that is so.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Out, c.Progress = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return demo.Run(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&c.Requests, "requests", "n", demo.DefaultRequests, "number of requests")
	f.IntVarP(&c.Connections, "connections", "c", demo.DefaultConnections, "number of connections")
	f.IntVar(&c.Show, "show", demo.DefaultShow, "number of lines to show")
	f.StringVar(&c.Dir, "dir", "", "folder to keep the files in (default: a temporary one that is removed)")
	return cmd
}
