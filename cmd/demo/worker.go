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
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// workerVerb is the argument with which the program starts itself as the
// service that is killed.
const workerVerb = "demo-worker"

// A job describes the work of a worker. It is the first line of its standard
// input, and the worker ends when that is closed.
type job struct {
	Dir                         string
	Requests, Connections, Show int
	Brokers                     []string
}

// Names in the directory, and of the destinations.
const (
	logName   = "access.log"
	spoolName = "spool"
	topicName = "access"
	toFile    = "file"
	toTopic   = "topic"
)

const maxFile = 1 << 20 // bytes at which the file is rotated

// A worker reports to its parent in lines over a pipe: a kind, and a text. A
// line up to 4 KiB is written atomically, and stays in the pipe when the worker
// dies.
const (
	reportLine    = 'l' // the call that wrote a line has returned: kind and id of the request
	reportDropped = 'd' // the call has returned an error
	reportText    = 't' // a line to be shown
	reportUp      = 'u' // the service answers: JSON of an up
	reportEnd     = 'e' // everything is delivered
	reportFault   = 'f' // the worker cannot continue
)

func report(out io.Writer, kind byte, text []byte) error {
	text = text[:min(len(text), 4000)]
	_, err := out.Write(append(append([]byte{kind}, text...), '\n'))
	return err
}

// An up is sent when the service answers.
type up struct {
	URL       string
	Recovered uint64 // records in the spool, for the destination that had most
}

// worker runs the service: HTTP on the loopback interface, whose lines go into
// the spool. It ends with its standard input, and returns the exit code.
func worker(in io.Reader, out io.Writer) int {
	if err := work(in, out); err != nil {
		_ = report(out, reportFault, []byte(err.Error())) // unless the parent has ended
		return 1
	}
	return 0
}

func work(in io.Reader, out io.Writer) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("no job: %w", err)
	}
	s, closeAll, err := j.open()
	if err != nil {
		return err
	}
	defer closeAll()
	lines := &reportedLines{spool: s, out: out, plan: plan{j.Requests, j.Connections}}
	lines.show.Store(int64(j.Show))
	srv, err := startService(nib.NewSink(lines))
	if err != nil {
		return err
	}
	recovered := uint64(0)
	for _, d := range s.Stats().Destinations {
		recovered = max(recovered, d.Recovered)
	}
	text, err := json.Marshal(up{srv.url, recovered})
	if err := errors.Join(err, report(out, reportUp, text)); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in) // returns when the parent closes it, or ends
	return finish(srv, s, out)
}

// waitForDisk makes a request wait for a slow disk rather than drop its line.
var waitForDisk = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}}

// open opens the spool and its destinations.
func (j *job) open() (s *spool.Sink, closeAll func(), err error) {
	f, err := file.Open(filepath.Join(j.Dir, logName), file.Config{MaxSize: maxFile})
	if err != nil {
		return nil, nil, err
	}
	k, err := kafka.New(j.Brokers, topicName, kafka.Config{})
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	closeAll = func() { _, _ = f.Close(), k.Close() } // accepted lines are safe
	s, err = spool.Open(filepath.Join(j.Dir, spoolName), f, spool.Config{
		Name: toFile, Also: []spool.NamedDestination{{Name: toTopic, To: k}}, SegmentSize: 1 << 20,
		OnFull:  waitForDisk,
		OnError: func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	if err != nil {
		closeAll()
	}
	return s, closeAll, err
}

// finish ends the service and delivers the records in the spool.
func finish(srv *service, s *spool.Sink, out io.Writer) error {
	if err := srv.stop(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := errors.Join(s.Flush(ctx), s.Close())
	return errors.Join(err, report(out, reportEnd, nil))
}

// A reportedLines writes lines to the spool, and reports each to the parent
// after the call has returned.
type reportedLines struct {
	spool *spool.Sink
	out   io.Writer
	plan  plan
	show  atomic.Int64 // lines to show
}

// WriteRecord implements nib.Sink. The check of the file finds lines that are
// of no request.
func (t *reportedLines) WriteRecord(r *nib.Record) error {
	err := t.spool.WriteRecord(r)
	id, _ := r.Lookup("request_id")
	if k, ok := t.plan.keyOf(string(bytes.Trim(id, `"`)), string(r.Message)); ok {
		kind := byte(reportLine)
		if err != nil {
			kind = reportDropped
		}
		text := fmt.Appendf(nil, "%d %d %d", k.kind, k.connection, k.n)
		if err := report(t.out, kind, text); err != nil {
			return err // the parent has ended
		}
	}
	if t.show.Load() > 0 && t.show.Add(-1) >= 0 {
		_ = report(t.out, reportText, bytes.TrimSpace(r.Line)) // only for display
	}
	return err
}
