// SPDX-License-Identifier: Apache-2.0

// Command demo runs an HTTP service under load, kills it halfway, starts it
// again, and checks its lines, in this order: worker.go is the service that is
// killed and service.go its handler, load.go sends requests, run.go kills and
// restarts the service, ledger.go records the logged requests, check.go reads
// files and topic back, cost.go measures the cost of a line, report.go writes
// the report.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nib-log/nib/cmd/nib/term"
)

const usage = `Starts an HTTP service as a separate process and sends it requests over
keep-alive connections. Its access lines go through a spool to a rotating file
and to a Kafka topic; the first few are shown. Half-way the service is killed
with SIGKILL and restarted. Then file and topic are read back: each line whose
call has returned must be there once, in order, valid, and agree with what the
client saw.

The service reports each line over a pipe when its call has returned. Lines of
calls that the kill has interrupted may or may not be there; they are counted
separately. An interrupted request is not sent again.

The exit code is 0 only if every check passes.

  go run .
  go run . -n 500000 -kills 20
  go run . -kafka localhost:9092 -relp localhost:2514
  go run . -dir /tmp/demo && nib spool ls /tmp/demo

`

func main() {
	if len(os.Args) == 2 && os.Args[1] == WorkerVerb {
		os.Exit(Worker(os.Stdin, os.Stdout))
	}
	c := Config{Out: os.Stdout, Progress: os.Stderr}
	flag.IntVar(&c.Requests, "n", DefaultRequests, "number of requests")
	flag.IntVar(&c.Connections, "c", DefaultConnections, "number of connections")
	flag.IntVar(&c.Show, "show", DefaultShow, "number of lines to show")
	flag.IntVar(&c.Kills, "kills", DefaultKills, "how often the service is killed")
	flag.StringVar(&c.Kafka, "kafka", EmbeddedKafka,
		"brokers (`host:port`,host:port) that get a new topic; "+
			"embedded: one in this process; none: no topic")
	flag.StringVar(&c.RELP, "relp", "",
		"syslog receiver (`host:port`) that also gets the lines")
	flag.StringVar(&c.Dir, "dir", "",
		"`directory` for the files, which are kept (default: a temporary directory)")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, c); err != nil {
		fmt.Fprintf(os.Stderr, "demo: %s\n", term.Line(err.Error()))
		stop()
		os.Exit(1)
	}
}
