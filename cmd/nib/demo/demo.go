// SPDX-License-Identifier: Apache-2.0

// Package demo runs an HTTP service under load and checks what it has logged,
// in this order: service.go answers and logs, load.go asks, check.go reads the
// file back, cost.go measures, report.go tells.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/file"
)

// Defaults and bounds of a Config.
const (
	DefaultRequests    = 50_000
	DefaultConnections = 8
	DefaultShow        = 8

	maxRequests    = 10_000_000 // about 2.5 GB of lines
	maxConnections = 256
	maxShow        = 1_000
)

// logName is the file that the service logs to, and maxFile the size at which it
// is rotated.
const (
	logName = "access.log"
	maxFile = 1 << 20
)

// A Config says what to run.
type Config struct {
	Requests    int
	Connections int
	Show        int       // number of lines to show on Out
	Dir         string    // "": a temporary folder that is removed in the end
	Out         io.Writer // lines and table
	Progress    io.Writer // the bar, if this is a terminal

	tamper func(path string) error // tests spoil the file before it is checked
	calls  int                     // of a round of the measurement; 0: callsPerRound
}

// Validate reports all faults of c, joined.
func (c Config) Validate() error {
	var errs []error
	for _, b := range []struct {
		name          string
		got, min, max int
	}{
		{"requests", c.Requests, 1, maxRequests},
		{"connections", c.Connections, 1, maxConnections},
		{"show", c.Show, 0, maxShow},
	} {
		if b.got < b.min || b.got > b.max {
			errs = append(errs, fmt.Errorf("demo: %d %s, want %d to %d", b.got, b.name, b.min, b.max))
		}
	}
	return errors.Join(errs...)
}

// ErrFile is returned when the files do not hold what they should.
var ErrFile = errors.New("demo: the files are not what was logged")

// Run runs the demo. It returns an error when something could not be done, and
// one that wraps ErrFile when a line is lost, doubled, out of order, invalid or
// untrue.
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
	path := filepath.Join(dir, logName)
	s := styleFor(c.Out)

	fmt.Fprintf(c.Out, "%s\n\n", s.dim(fmt.Sprintf("HTTP service on 127.0.0.1, %d keep-alive connections, access log %s", c.Connections, path)))
	r, err := load(ctx, c, path, s)
	if err == nil && c.tamper != nil {
		err = c.tamper(path)
	}
	if err == nil {
		r.files, err = files(dir)
	}
	if err == nil {
		r.check, err = checkFiles(r.files, r.plan)
	}
	if err == nil {
		r.cost, err = measure(filepath.Join(dir, "replay.log"), c.calls)
	}
	if err != nil {
		remove()
		return err
	}
	writeReport(c.Out, s, r)
	if !r.check.ok() {
		return fmt.Errorf("%w; they are kept: %s", ErrFile, dir)
	}
	remove()
	return nil
}

// folder makes sure that there is a folder without a log of an earlier run, and
// returns how to remove it if it is a temporary one.
func folder(dir string) (_ string, remove func(), err error) {
	if dir == "" {
		dir, err = os.MkdirTemp("", "nib-demo-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	for _, path := range []string{logName, "access-*.log"} {
		if found, _ := filepath.Glob(filepath.Join(dir, path)); len(found) > 0 {
			return "", nil, fmt.Errorf("demo: %s has a file %s already", dir, filepath.Base(found[0]))
		}
	}
	return dir, func() {}, nil
}

// files lists the log files, the oldest first: the names of rotated ones begin
// with the time.
func files(dir string) ([]string, error) {
	rotated, err := filepath.Glob(filepath.Join(dir, "access-*.log"))
	slices.Sort(rotated)
	return append(rotated, filepath.Join(dir, logName)), err
}

// A result is what there is to tell.
type result struct {
	plan        plan
	took        time.Duration
	connections int
	files       []string
	check       check
	cost        cost
}

// load runs service and clients until each request is answered and each line is
// in the file.
func load(ctx context.Context, c Config, path string, s style) (r result, err error) {
	r.plan = plan{requests: c.Requests, connections: c.Connections}
	f, err := file.Open(path, file.Config{MaxSize: maxFile})
	if err != nil {
		return r, err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	var done atomic.Int64
	shown := newWindow(c.Out, c.Show, s)
	log := nib.NewSink(sink.Tee(f, shown))
	srv, err := startService(log)
	if err != nil {
		return r, err
	}
	bar := startBar(c.Progress, int64(c.Requests), &done, shown.full)
	start := time.Now()
	r.connections, err = r.plan.drive(ctx, srv.url, &done)
	r.took = time.Since(start)
	bar.stop()
	if stopErr := srv.stop(); err == nil {
		err = stopErr
	}
	if n := log.Stats().Failed; err == nil && n > 0 {
		err = fmt.Errorf("demo: %d lines could not be written", n)
	}
	return r, err
}
