// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/cmd/nib/term"
)

// Defaults and bounds of a Config.
const (
	DefaultRequests    = 50_000
	DefaultConnections = 8
	DefaultShow        = 8
	DefaultKills       = 1

	maxRequests    = 10_000_000 // about 2.5 GB of lines
	maxConnections = 256
	maxShow        = 1_000
	maxKills       = 1_000
)

// Values of Config.Kafka other than brokers.
const (
	EmbeddedKafka = "embedded"
	NoKafka       = "none"
)

// logName is the file behind the spool, and maxFile the size at which it is
// rotated.
const (
	logName   = "access.log"
	spoolName = "spool"
	maxFile   = 1 << 20
)

// A Config sets the parameters of a run.
type Config struct {
	Requests    int
	Connections int
	Show        int       // number of lines to show on Out
	Kills       int       // number of times that the service is killed
	Kafka       string    // brokers, host:port,host:port; EmbeddedKafka; or NoKafka
	RELP        string    // host:port of a syslog receiver that also gets the lines, or ""
	Dir         string    // if empty, a temporary directory that is removed at the end
	Out         io.Writer // lines and table
	Progress    io.Writer // the bar, if this is a terminal

	calls int // calls in a round of the measurement; if 0, callsPerRound
}

// Validate returns every mistake in c, joined.
func (c Config) Validate() error {
	var errs []error
	for _, b := range []struct {
		name          string
		got, min, max int
	}{
		{"requests", c.Requests, 1, maxRequests},
		{"connections", c.Connections, 1, maxConnections},
		{"show", c.Show, 0, maxShow},
		{"kills", c.Kills, 0, maxKills},
	} {
		if b.got < b.min || b.got > b.max {
			errs = append(errs, fmt.Errorf("demo: %d %s, want %d to %d", b.got, b.name, b.min, b.max))
		}
	}
	addresses := []string{}
	if c.Kafka != EmbeddedKafka && c.Kafka != NoKafka {
		addresses = strings.Split(c.Kafka, ",")
	}
	if c.RELP != "" {
		addresses = append(addresses, c.RELP)
	}
	for _, a := range addresses {
		if _, _, err := net.SplitHostPort(a); err != nil {
			errs = append(errs, fmt.Errorf("demo: %w", err))
		}
	}
	return errors.Join(errs...)
}

// ErrFile is returned when a destination does not hold the expected lines.
var ErrFile = errors.New("demo: what came back is not what was logged")

// Run runs the demo. It returns an error when something could not be done, and
// an error that wraps ErrFile when a line is lost, doubled, out of order,
// invalid or untrue.
func Run(ctx context.Context, c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.calls == 0 {
		c.calls = callsPerRound
	}
	dir, remove, err := folder(c.Dir)
	if err != nil {
		return err
	}
	r, err := c.run(ctx, dir)
	if err != nil {
		remove()
		return err
	}
	if err := c.conclude(r, dir); err != nil {
		return err // keep all files
	}
	remove()
	return nil
}

// conclude reports the result.
func (c Config) conclude(r result, dir string) error {
	writeReport(c.Out, term.StyleFor(c.Out), r)
	if !r.ok() {
		return fmt.Errorf("%w; it is kept: %s", ErrFile, dir)
	}
	return nil
}

// run does everything but the report.
func (c Config) run(ctx context.Context, dir string) (r result, err error) {
	r.plan = plan{requests: c.Requests, connections: c.Connections}
	t, err := c.startTopic(ctx)
	if err != nil {
		return r, err
	}
	defer t.close()
	fmt.Fprintf(c.Out, "%s\n\n", term.StyleFor(c.Out).Dim(fmt.Sprintf(
		"HTTP service on 127.0.0.1, %d keep-alive connections. Its access log goes\nthrough a spool to %s%s.", c.Connections,
		filepath.Join(dir, logName), t.describe(c.RELP))))
	if err := c.load(ctx, dir, t, &r); err != nil {
		return r, err
	}
	if err := r.readBack(ctx, dir, t, c.RELP != ""); err != nil {
		return r, err
	}
	r.cost, err = measure(filepath.Join(dir, "replay"), c.calls)
	return r, err
}

// folder returns a directory without a log of an earlier run, and a function
// that removes the directory if it is temporary.
func folder(dir string) (_ string, remove func(), err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "nib-demo-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if name := e.Name(); name == logName || name == spoolName || isRotated(name) {
			return "", nil, fmt.Errorf("demo: %s has a file %s already", dir, name)
		}
	}
	return dir, func() {}, err
}

func isRotated(name string) bool {
	return strings.HasPrefix(name, "access-") && strings.HasSuffix(name, ".log")
}

// files lists the log files, oldest first: the names of rotated files begin
// with the time.
func files(dir string) (paths []string, err error) {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if isRotated(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return append(paths, filepath.Join(dir, logName)), err
}
