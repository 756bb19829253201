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
		Short: "Kill a service that logs real HTTP requests, and check that every line is there",
		Long: `Starts an HTTP service as a separate process and sends it requests over
keep-alive connections. Its access lines go through a spool to a rotating file
and to a Kafka topic; the first few are shown. Half-way the service is killed
with SIGKILL and restarted. Then file and topic are read back: each line whose
call has returned must be there once, in order, valid, and agree with what the
client saw.

The service reports each line over a pipe when its call has returned. Lines of
calls that the kill has interrupted may or may not be there; they are counted
separately. An interrupted request is not sent again.

The exit code is 0 only if every check passes.`,
		Example: `  nib demo
  nib demo -n 500000 --kills 20
  nib demo --kafka localhost:9092 --relp localhost:2514
  nib demo --dir /tmp/demo && nib spool ls /tmp/demo`,
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
	f.IntVar(&c.Kills, "kills", demo.DefaultKills, "how often the service is killed")
	f.StringVar(&c.Kafka, "kafka", demo.EmbeddedKafka, "brokers (`host:port`,host:port) that get a new topic; embedded: one in this process; none: no topic")
	f.StringVar(&c.RELP, "relp", "", "syslog receiver (`host:port`) that also gets the lines")
	f.StringVar(&c.Dir, "dir", "", "directory for the files, which are kept (default: a temporary one that is removed)")
	return cmd
}
