// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/sink/spool"
)

// A result has everything that is reported.
type result struct {
	plan    plan
	ledger  *ledger
	took    time.Duration
	dialled int
	kills   []recovery
	spooled map[string]uint64 // records that a destination had not settled at the end
	settled map[string]uint64 // numbers that it has settled
	refused map[string]uint64 // records that it rejected, as the last process reports
	files   []string
	places  []placed
	cost    cost
}

// A recovery describes the time after a kill.
type recovery struct {
	left    map[string]uint64 // records in the spool that a destination had not settled
	serving time.Duration     // time from the kill until the service answered
	opened  time.Duration     // of serving: time to open the spool
	caught  time.Duration     // time from then until the remaining records were delivered
}

// A placed is the result for a destination. It has no check if the destination
// cannot be read back.
type placed struct {
	name  string
	check *check
}

func (r *result) ok() bool {
	return r.ledger.dropped == 0 && !slices.ContainsFunc(r.places, func(p placed) bool {
		return r.spooled[p.name]+r.refused[p.name] > 0 || p.check != nil && !p.check.ok()
	})
}

// A load is the part of a run in which requests are sent.
type load struct {
	job    job
	result *result
	gate   *gate
	bar    *bar
	say    func(line string)
	show   func(line []byte)
	style  term.Style
	worker *process
}

// load runs the service and the clients until each request is answered and each
// line is delivered, and kills the service several times.
func (c Config) load(ctx context.Context, dir string, t *logTopic, r *result) (err error) {
	r.ledger = newLedger(r.plan)
	style := term.StyleFor(c.Out)
	window := newWindow(c.Out, c.Show, style)
	l := &load{
		job: job{
			Dir: dir, Requests: c.Requests, Connections: c.Connections, Show: c.Show,
			Brokers: t.brokers, Topic: t.name, RELP: c.RELP,
		},
		result: r, gate: newGate(), show: window.show, style: style,
	}
	u, err := l.start()
	if err != nil {
		return err
	}
	defer func() { l.worker.kill() }() // the worker has ended, unless something went wrong

	kill := make(chan struct{}, c.Kills)
	moments := killMoments(c.Requests, c.Kills)
	d := &drive{plan: r.plan, gate: l.gate, ledger: r.ledger, at: func(done int64) {
		if slices.Contains(moments, done) {
			kill <- struct{}{}
		}
	}}
	l.bar = startBar(c.Progress, int64(c.Requests), &d.done, window.full)
	l.say = func(line string) { l.bar.say(c.Out, line) }
	begin := time.Now()
	l.gate.open(u.URL)
	driven := make(chan error, 1)
	go func() { driven <- d.run(ctx) }()
	for replaced := 0; err == nil && replaced < len(moments); replaced++ {
		select {
		case <-kill:
			err = l.replace(int(d.done.Load()))
		case err = <-driven:
			driven <- err
			if err == nil {
				<-kill // the last request caused the last kill
				err = l.replace(int(d.done.Load()))
			}
		}
	}
	return l.finish(err, driven, begin, d)
}

// killMoments returns numbers of requests after which the service is killed.
func killMoments(requests, kills int) (moments []int64) {
	for i := range kills {
		if m := max(int64(requests)*int64(i+1)/int64(kills+1), 1); !slices.Contains(moments, m) {
			moments = append(moments, m)
		}
	}
	return moments
}

// finish waits for the clients, ends the service, and joins the errors.
func (l *load) finish(err error, driven chan error, begin time.Time, d *drive) error {
	if err != nil {
		l.worker.kill()
		if l.gate.isOpen() {
			l.gate.close()
		}
		l.bar.stop()
		if l.worker.fault != "" {
			return l.worker.died("has failed")
		}
		return err
	}
	err = <-driven
	l.result.took, l.result.dialled = time.Since(begin), int(d.dialled.Load())
	l.bar.stop()
	if err != nil {
		l.worker.kill()
		if l.worker.fault != "" {
			return l.worker.died("has failed")
		}
		return err
	}
	if err := l.worker.stop(); err != nil {
		return err
	}
	l.noteCaught()
	l.result.refused = l.worker.end.Rejected
	return nil
}

func (l *load) start() (u up, err error) {
	w, err := startWorker(l.job, l.result.ledger, l.show)
	if err != nil {
		return u, err // worker is the one before, which can be killed again
	}
	l.worker = w
	if u, err = w.await(); err != nil {
		l.worker.kill()
	}
	return u, err
}

// replace kills the worker and starts another one.
func (l *load) replace(done int) error {
	pid := l.worker.cmd.Process.Pid
	l.gate.close()
	killed := time.Now()
	l.worker.kill()
	l.noteCaught()
	left, err := l.pending()
	if err != nil {
		return err
	}
	l.sayKill(l.style.Warn(fmt.Sprintf("kill -9 %d", pid)) + l.style.Dim(fmt.Sprintf("  after %s requests; lines in the spool: %s",
		term.Count(done), describeLeft(left))))
	u, err := l.start()
	if err != nil {
		return err
	}
	serving := time.Since(killed)
	l.gate.open(u.URL)
	l.result.kills = append(l.result.kills, recovery{left: left, serving: serving, opened: time.Duration(u.Opened)})
	l.sayKill(l.style.Good(fmt.Sprintf("back as %d", l.worker.cmd.Process.Pid)) + l.style.Dim(fmt.Sprintf("  %s after the kill; %s lines recovered",
		round(serving), term.Count(u.Recovered))))
	return nil
}

// maxSaid is the maximum number of kills that are reported.
const maxSaid = 5

// sayKill reports a kill, or the start after it, unless there are too many of
// them.
func (l *load) sayKill(line string) {
	switch n := len(l.result.kills); {
	case n < maxSaid, n == maxSaid && l.gate.isOpen():
		l.say(line)
	case n == maxSaid:
		l.say(l.style.Dim("… and so on"))
	}
}

// noteCaught records how long the worker took to deliver the backlog.
func (l *load) noteCaught() {
	n := len(l.result.kills)
	select {
	case c := <-l.worker.caught:
		if n > 0 {
			l.result.kills[n-1].caught = time.Duration(c.After)
		}
	default: // there was nothing to deliver, or the worker was killed before
	}
}

// pending returns the number of pending records for each destination.
func (l *load) pending() (map[string]uint64, error) {
	v, err := spool.Inspect(filepath.Join(l.job.Dir, spoolName))
	if err != nil {
		return nil, err
	}
	left := map[string]uint64{}
	for _, d := range v.Destinations {
		left[d.Name] = d.Pending
	}
	return left, nil
}

// readBack reads all destinations that can be read.
func (r *result) readBack(ctx context.Context, dir string, t *logTopic, relp bool) (err error) {
	v, err := spool.Inspect(filepath.Join(dir, spoolName))
	if err != nil {
		return err
	}
	r.spooled, r.settled = map[string]uint64{}, map[string]uint64{}
	for _, d := range v.Destinations {
		r.spooled[d.Name], r.settled[d.Name] = d.Pending, d.Settled-1
	}
	if r.files, err = files(dir); err != nil {
		return err
	}
	c, err := checkFiles(r.files, r.ledger)
	if err != nil {
		return err
	}
	r.places = append(r.places, placed{toFile, &c})
	if len(t.brokers) > 0 {
		ctx, cancel := context.WithTimeout(ctx, kafkaLimit)
		defer cancel()
		c, err := checkTopic(ctx, t.brokers, t.name, r.ledger)
		if err != nil {
			return fmt.Errorf("demo: read the topic %s: %w", t.name, err)
		}
		r.places = append(r.places, placed{toTopic, &c})
	}
	if relp {
		r.places = append(r.places, placed{toRELP, nil})
	}
	return nil
}
