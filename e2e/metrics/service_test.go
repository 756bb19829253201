// SPDX-License-Identifier: Apache-2.0

// Package metrics checks the metrics of everything in the repository with the
// parsers of Prometheus: names, units, stability, and the queries of the
// dashboard and the alerts in docs.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/pool"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/journald"
	"github.com/nib-log/nib/sink/spool"
	"github.com/nib-log/nib/sink/stdout"
)

// A service has one of everything that yields metrics.
type service struct {
	log     *nib.Logger
	plain   *nib.Logger // without a Sink
	buffers pool.Buffers
	values  *pool.Pool[[]byte]
	file    *file.Sink
	sources []metrics.Source
}

// sometimes returns a destination that fails in every third call.
func sometimes() *recordtest.Recorder {
	calls, rec := 0, new(recordtest.Recorder)
	rec.DeliverWith(func(_ context.Context, batch []nib.Record) (delivery.Result, error) {
		if calls++; calls%3 == 0 {
			return delivery.Result{}, errors.New("busy")
		}
		return delivery.Result{Accepted: len(batch)}, nil
	})
	return rec
}

func newService(t *testing.T) *service {
	t.Helper()
	dir := t.TempDir()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	f, err := file.Open(filepath.Join(dir, "app.log"), file.Config{MaxSize: 64 << 10, MaxBackups: 2, Buffer: 4 << 10})
	must(t, err)
	other, err := file.Open(filepath.Join(dir, "delivered.log"), file.Config{})
	must(t, err)
	receiver, err := syslog.New("unix", filepath.Join(dir, "absent"), syslog.Config{})
	must(t, err)
	topic, err := kafka.New([]string{"127.0.0.1:1"}, "logs", kafka.Config{})
	must(t, err)
	collector, err := otlp.New("http://127.0.0.1:1/v1/logs", otlp.Config{})
	must(t, err)
	index, err := elastic.New("http://127.0.0.1:1", "logs", elastic.Config{})
	must(t, err)
	ignore := func(error) {}
	s, err := spool.Open(filepath.Join(dir, "spool"), sometimes(), spool.Config{
		Name: "sometimes", OnError: ignore,
		Also: []spool.NamedDestination{{Name: "file", To: other}, {Name: "syslog", To: receiver}},
	})
	must(t, err)
	memory, err := spool.Open("", sometimes(), spool.Config{Name: "memory", Size: 256 << 10, SegmentSize: 64 << 10, OnError: ignore})
	must(t, err)
	out := stdout.New(stdout.Config{File: null, Buffer: 4 << 10})
	many := sink.Tee(sink.Named("file", f), sink.Named("out", out), sink.Named("spool", s), sink.Named("memory", memory),
		sink.Named("errors", sink.Route(sink.Discard(), sink.AtLeast(nib.LevelError, sink.Discard()))),
		sink.Named("some", sink.Filter(sink.Limit(sink.Sample(sink.Discard(), sink.SampleConfig{}), sink.LimitConfig{}), func(*nib.Record) bool { return true })),
		sink.Named("held", sink.Backtrace(sink.Discard(), sink.BacktraceConfig{})))
	j := openJournal(t, dir)
	t.Cleanup(func() {
		must(t, f.Close(), out.Close(), other.Close(), topic.Close(), collector.Close(), index.Close(), receiver.Close(), j.Close(), null.Close())
		_, _ = s.Close(), memory.Close() // neither can deliver everything
	})
	svc := &service{
		log: nib.NewSink(many, nib.WithLevel(nib.LevelTrace), nib.WithErrorHandler(ignore)), plain: nib.New(null),
		values: pool.New(func() []byte { return make([]byte, 0, 64) }), file: f,
	}
	svc.sources = []metrics.Source{
		svc.log, svc.plain, topic, collector, index, j, request.New(request.Config{}),
		metrics.WithLabels(&svc.buffers, metrics.Label{Name: "pool", Value: "buffers"}),
		metrics.WithLabels(svc.values, metrics.Label{Name: "pool", Value: "values"}),
		metrics.WithLabels(pool.NewErasable(func() erasable { return erasable{} }), metrics.Label{Name: "pool", Value: "erasable"}),
	}
	return svc
}

type erasable struct{}

func (erasable) Erase() error { return nil }

// openJournal connects to a socket that reads nothing.
func openJournal(t *testing.T, dir string) *journald.Sink {
	t.Helper()
	path := filepath.Join(dir, "journal")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	j, err := journald.Open(journald.Config{Socket: path})
	must(t, err)
	return j
}

// run logs with all levels until stop is closed.
func (s *service) run(stop <-chan struct{}) *sync.WaitGroup {
	var running sync.WaitGroup
	for g := range 4 {
		running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				level := nib.LevelTrace + nib.Level(4*(n%5))
				s.log.At(level).Int("n", n).Str("user", fmt.Sprint(g, "-", n)).Msg("request")
				s.plain.At(level).Int("n", n).Msg("request")
				s.buffers.Put(s.buffers.Get(n % 4096))
				s.values.Put(s.values.Get())
			}
		})
	}
	return &running
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
