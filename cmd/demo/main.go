// SPDX-License-Identifier: Apache-2.0

// Command demo runs an HTTP service under load, kills it halfway, starts it
// again, and checks its lines, in this order: worker.go is the service that is
// killed and service.go its handler, load.go sends requests, run.go kills and
// restarts the service, check.go reads files and topic back, cost.go measures a
// log call, report.go writes the report.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/nib-log/nib/cmd/nib/term"
)

const usage = `Starts an HTTP service as a separate process and sends it requests. Its access
lines go through a spool to a rotating file and to a Kafka topic. Half-way the
service is killed with SIGKILL and restarted. Then file and topic are read back:
each line whose call has returned must be there once, in order, valid, and agree
with what the client saw. The service reports each line over a pipe when its
call has returned; a line whose call the kill has interrupted may be there or
not. The exit code is 0 only if every check passes.

  go run .
  go run . -n 500000 -kills 20
  go run . -dir /tmp/demo && nib spool ls /tmp/demo

`

// A config sets the parameters of a run.
type config struct {
	plan
	kills int       // how often the service is killed
	dir   string    // if empty, a temporary directory that is removed at the end
	out   io.Writer // lines and report
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == workerVerb {
		os.Exit(worker(os.Stdin, os.Stdout))
	}
	c := config{out: os.Stdout}
	flag.IntVar(&c.requests, "n", 50_000, "number of requests")
	flag.IntVar(&c.connections, "c", 8, "number of connections")
	flag.IntVar(&c.kills, "kills", 1, "how often the service is killed")
	flag.StringVar(&c.dir, "dir", "",
		"new `directory` for the files, which are kept (default: a temporary directory)")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || c.requests < 1 || c.connections < 1 || c.kills < 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.demo(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: %s\n", term.Line(err.Error()))
		os.Exit(1)
	}
}
