// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// WorkerVerb is the argument with which the program starts itself as the
// service that is killed.
const WorkerVerb = "demo-worker"

// A job describes the work of a worker. It is the first line of its standard
// input, and the worker ends when that is closed.
type job struct {
	Dir         string
	Requests    int
	Connections int
	Show        int
	Brokers     []string // brokers of Kafka; empty if there is no topic
	Topic       string
	RELP        string // address of a receiver, or ""
}

// Names of the destinations.
const (
	toFile  = "file"
	toTopic = "topic"
	toRELP  = "relp"
)

const (
	segmentSize  = 1 << 20
	deliverLimit = 2 * time.Minute // limit for delivering the records that are in the spool at the end
)

// waitForDisk makes a request wait for a slow disk rather than drop its line.
var waitForDisk = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}}

// Worker runs the service: HTTP on the loopback interface, whose lines go into
// the spool. It ends with its standard input, and returns the exit code.
func Worker(in, out *os.File) int {
	if err := work(in, out); err != nil {
		_, _ = out.Write(appendFrame(nil, frameFault, []byte(err.Error()))) // unless the parent has ended
		return 1
	}
	return 0
}

func work(in, out *os.File) error {
	var j job
	dec := json.NewDecoder(in)
	if err := dec.Decode(&j); err != nil {
		return fmt.Errorf("demo: no job: %w", err)
	}
	begin := time.Now()
	s, closeAll, err := j.open()
	if err != nil {
		return err
	}
	defer closeAll()
	opened := time.Since(begin)
	lines := &lineFrames{spool: s, out: out, plan: plan{requests: j.Requests, connections: j.Connections}}
	lines.show.Store(int64(j.Show))
	srv, err := startService(nib.NewSink(lines))
	if err != nil {
		return err
	}
	recovered := uint64(0)
	for _, d := range s.Stats().Destinations {
		recovered = max(recovered, d.Recovered)
	}
	if err := writeFrame(out, frameUp, up{srv.url, opened.Nanoseconds(), recovered}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deliverLimit)
	defer cancel()
	if recovered > 0 {
		go func() {
			if s.Flush(ctx) == nil {
				_ = writeFrame(out, frameCaught, caught{time.Since(begin).Nanoseconds()}) // unless the parent has ended
			}
		}()
	}
	_, _ = io.Copy(io.Discard, in) // returns when the parent closes it, or ends
	return j.finish(srv, s, out)
}

// open opens the spool and all its destinations.
func (j *job) open() (s *spool.Sink, closeAll func(), err error) {
	var closers []io.Closer
	closeAll = func() {
		for _, c := range closers {
			_ = c.Close() // accepted lines are safe
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	f, err := file.Open(filepath.Join(j.Dir, logName), file.Config{MaxSize: maxFile})
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, f)
	var also []spool.NamedDestination
	if len(j.Brokers) > 0 {
		k, err := kafka.New(j.Brokers, j.Topic, kafka.Config{})
		if err != nil {
			return nil, nil, err
		}
		closers, also = append(closers, k), append(also, spool.NamedDestination{Name: toTopic, To: k})
	}
	if j.RELP != "" {
		r, err := syslog.New("relp", j.RELP, syslog.Config{AppName: "nib-demo"})
		if err != nil {
			return nil, nil, err
		}
		closers, also = append(closers, r), append(also, spool.NamedDestination{Name: toRELP, To: r})
	}
	s, err = spool.Open(filepath.Join(j.Dir, spoolName), f, spool.Config{
		Name: toFile, Also: also, SegmentSize: segmentSize, OnFull: waitForDisk,
		OnError: func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	return s, closeAll, err
}

// finish ends the service and delivers the records in the spool.
func (j *job) finish(srv *service, s *spool.Sink, out *os.File) error {
	if err := srv.stop(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deliverLimit)
	defer cancel()
	flushErr := s.Flush(ctx)
	closeErr := s.Close()
	e := end{Rejected: map[string]uint64{}}
	for _, d := range s.Stats().Destinations {
		for _, lost := range d.Dropped {
			if lost.Reason == delivery.ReasonRejected || lost.Reason == delivery.ReasonDamaged {
				e.Rejected[d.Name] += lost.Lines
			}
		}
	}
	return errors.Join(flushErr, closeErr, writeFrame(out, frameEnd, e))
}

// A lineFrames writes lines to the spool, and reports each to the parent after
// the call has returned.
type lineFrames struct {
	spool *spool.Sink
	out   *os.File
	plan  plan
	show  atomic.Int64 // lines to show
}

var _ nib.Sink = (*lineFrames)(nil)

// WriteRecord implements nib.Sink.
func (t *lineFrames) WriteRecord(r *nib.Record) error {
	err := t.spool.WriteRecord(r)
	var b [keySize + frameHead]byte
	if k, ok := t.key(r); ok {
		kind := byte(frameLine)
		if err != nil {
			kind = frameDropped
		}
		if _, writeErr := t.out.Write(appendFrame(b[:0], kind, k.append(nil))); writeErr != nil {
			return writeErr // the parent has ended
		}
	}
	if t.show.Load() > 0 && t.show.Add(-1) >= 0 {
		_, _ = t.out.Write(appendFrame(nil, frameText, r.Line)) // only for display
	}
	return err
}

// key returns the key of r in the plan. ok is false for other lines, which the
// check of the file finds.
func (t *lineFrames) key(r *nib.Record) (k lineKey, ok bool) {
	id, ok := r.Lookup("request_id")
	if !ok {
		return k, false
	}
	k.connection, k.n, ok = t.plan.parseID(string(bytes.Trim(id, `"`)))
	k.kind = serviceLine
	if string(r.Message) == accessMessage {
		k.kind = accessLine
	}
	return k, ok
}
