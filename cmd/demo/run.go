// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/dest/kafka/embedded"
	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/sink/spool"
)

// A result has everything that is reported.
type result struct {
	ledger  *ledger
	took    time.Duration   // of the load
	kills   []time.Duration // from each kill until the service answered
	files   int
	places  []*check
	call    time.Duration // of a log call
	mallocs float64       // in it
}

// errLines is returned when a destination does not hold the expected lines.
var errLines = errors.New("what came back is not what was logged")

// verdict returns an error that wraps errLines when a line is lost, doubled,
// out of order, invalid or untrue.
func (r *result) verdict(dir string) error {
	for _, c := range r.places {
		if r.ledger.dropped > 0 || !c.ok() {
			return fmt.Errorf("%w; the files are kept: %s", errLines, dir)
		}
	}
	return nil
}

// demo runs the demo, and returns its verdict or what could not be done.
func (c config) demo(ctx context.Context) error {
	dir, err := c.dir, error(nil)
	if dir == "" {
		dir, err = os.MkdirTemp("", "nib-demo-")
	} else {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return err
	}
	r, err := c.run(ctx, dir)
	if err == nil {
		r.write(c.out, term.StyleFor(c.out))
		err = r.verdict(dir)
	}
	if c.dir == "" && !errors.Is(err, errLines) {
		_ = os.RemoveAll(dir)
	}
	return err
}

// run does everything but the report. The broker does not run in the worker,
// which is killed.
func (c config) run(ctx context.Context, dir string) (*result, error) {
	cluster, err := embedded.Start(embedded.Config{Topic: topicName})
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	l := &load{
		job: job{Dir: dir, Requests: c.requests, Connections: c.connections, Show: shown,
			Brokers: cluster.Addrs()},
		result: &result{ledger: newLedger(c.plan)},
		screen: newScreen(c.out),
	}
	l.screen.print(l.screen.style.Dim(fmt.Sprintf(
		"HTTP service on 127.0.0.1, %d keep-alive connections. Its access log goes\n"+
			"through a spool to %s\nand to a Kafka topic, on a broker in this process.",
		c.connections, filepath.Join(dir, logName))) + "\n\n")
	if err := l.run(ctx, c.kills); err != nil {
		return nil, err
	}
	if err := l.result.readBack(ctx, dir, cluster.Addrs()); err != nil {
		return nil, err
	}
	l.result.call, l.result.mallocs, err = measure(filepath.Join(dir, "replay"))
	return l.result, errors.Join(err, os.RemoveAll(filepath.Join(dir, "replay")))
}

// A load is the part of a run in which requests are sent.
type load struct {
	job    job
	result *result
	screen *screen
	worker *process
	shift  *shift // of the worker
}

// run runs the service and the clients until each request is answered and each
// line is delivered, and kills the service several times.
func (l *load) run(ctx context.Context, kills int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.shift = newShift()
	moments := killMoments(l.job.Requests, kills)
	kill := make(chan struct{}, len(moments))
	d := &drive{first: l.shift, ledger: l.result.ledger, at: func(done int) {
		if slices.Contains(moments, done) {
			kill <- struct{}{}
		}
		l.screen.progress(done, l.job.Requests)
	}}
	if _, err := l.start(); err != nil {
		return err
	}
	defer func() { l.worker.kill() }() // the worker has ended, unless something went wrong
	begin := time.Now()
	driven := make(chan error, 1)
	go func() {
		driven <- d.run(ctx)
		close(kill)
	}()
	for range kill {
		if err := l.replace(int(d.done.Load())); err != nil {
			cancel(err)
			break
		}
	}
	err := <-driven
	l.result.took = time.Since(begin)
	l.screen.print("")
	if err != nil {
		l.worker.kill()
		if l.worker.fault != "" {
			err = l.worker.died("has failed")
		}
		return err
	}
	return l.worker.stop()
}

// killMoments returns numbers of requests after which the service is killed.
func killMoments(requests, kills int) (moments []int) {
	for i := range kills {
		if m := max(requests*(i+1)/(kills+1), 1); !slices.Contains(moments, m) {
			moments = append(moments, m)
		}
	}
	return moments
}

// start starts a worker, whose shift begins.
func (l *load) start() (up, error) {
	w, u, err := startWorker(l.job, l.result.ledger, l.screen.show)
	if err != nil {
		return u, err // the worker is the one before, which can be killed again
	}
	l.worker, l.job.Show = w, 0
	l.shift.url = u.URL
	close(l.shift.ready)
	return u, nil
}

// replace kills the worker and starts another one.
func (l *load) replace(done int) error {
	pid, killed := l.worker.cmd.Process.Pid, time.Now()
	l.shift.next = newShift()
	close(l.shift.over)
	l.shift = l.shift.next
	l.worker.kill()
	v, err := spool.Inspect(filepath.Join(l.job.Dir, spoolName))
	if err != nil {
		return err
	}
	left := "  after " + term.Count(done) + " requests; lines in the spool:"
	for _, d := range v.Destinations {
		left += fmt.Sprintf(" %s %s", d.Name, term.Count(d.Pending))
	}
	style := l.screen.style
	l.screen.print(style.Warn(fmt.Sprintf("kill -9 %d", pid)) + style.Dim(left) + "\n")
	u, err := l.start()
	if err != nil {
		return err
	}
	serving := time.Since(killed)
	l.result.kills = append(l.result.kills, serving)
	l.screen.print(style.Good(fmt.Sprintf("back as %d", l.worker.cmd.Process.Pid)) +
		style.Dim(fmt.Sprintf("  %s after the kill; %s lines recovered", round(serving),
			term.Count(u.Recovered))) + "\n")
	return nil
}

// readBack compares the destinations with the ledger.
func (r *result) readBack(ctx context.Context, dir string, brokers []string) error {
	inFile, inTopic := newCheck(toFile, r.ledger), newCheck(toTopic, r.ledger)
	r.places = []*check{inFile, inTopic}
	var err error
	if r.files, err = inFile.files(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = topic.Read(ctx, brokers, topicName, func(m topic.Message) bool {
		inTopic.line(append(m.Value, '\n')) // a record is a line without its newline
		return true
	})
	inTopic.findLost()
	return err
}
