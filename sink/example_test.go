// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
)

// noTime makes the output of the examples deterministic.
var noTime = nib.WithClock(noTimeClock)

func noTimeClock() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) }

// All lines go to standard output, and warnings and errors also to a second
// writer.
func Example() {
	var alarms bytes.Buffer
	s := sink.Tee(
		nib.WriterSink(os.Stdout),
		sink.Route(sink.Discard(), sink.AtLeast(nib.LevelWarn, nib.WriterSink(&alarms))),
	)
	log := nib.NewSink(s, noTime)
	log.Info().Msg("started")
	log.Error().Msg("disk full")
	os.Stdout.WriteString("alarms: " + alarms.String())
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","message":"started"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"error","message":"disk full"}
	// alarms: {"time":"2026-01-02T15:04:05.000Z","level":"error","message":"disk full"}
}

// Health checks are not logged.
func ExampleFilter() {
	s := sink.Filter(nib.WriterSink(os.Stdout), func(r *nib.Record) bool {
		path, _ := r.Lookup("path")
		return string(path) != `"/healthz"`
	})
	log := nib.NewSink(s, noTime)
	log.Info().Str("path", "/healthz").Msg("served")
	log.Info().Str("path", "/users").Msg("served")
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","path":"/users","message":"served"}
}

// A tight loop writes four lines instead of thousands.
func ExampleLimit() {
	s := sink.Limit(nib.WriterSink(os.Stdout), sink.LimitConfig{
		PerSite: sink.Rate{PerSecond: 1, Burst: 2},
		Now:     noTimeClock,
	})
	log := nib.NewSink(s, noTime)
	for range 1000 {
		log.Warn().Msg("retrying")
	}
	log.Info().Msg("connected")
	fmt.Printf("%+v\n", s.Stats())
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"warn","message":"retrying"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"warn","message":"retrying"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"warn","of":"retrying","count":998,"message":"lines suppressed"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","message":"connected"}
	// {Taken:1001 Passed:3 Suppressed:998 Announced:998 Owed:0 Forgotten:0}
}

func ExampleSample() {
	s := sink.Sample(nib.WriterSink(os.Stdout), sink.SampleConfig{
		Keep:   sink.Share{First: 1, Every: 100},
		KeepAt: map[nib.Level]sink.Share{nib.LevelError: {}}, // all
		Now:    noTimeClock,
	})
	log := nib.NewSink(s, noTime)
	for i := range 150 {
		log.Info().Int("n", i).Msg("tick")
	}
	_ = log.Flush(context.Background())
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","n":0,"message":"tick"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","of":"tick","count":99,"message":"lines suppressed"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","n":100,"message":"tick"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","of":"tick","count":49,"message":"lines suppressed"}
}

func ExampleBacktrace() {
	s := sink.Backtrace(nib.WriterSink(os.Stdout), sink.BacktraceConfig{})
	log := nib.NewSink(s, noTime, nib.WithLevel(nib.LevelDebug))
	log.Debug().Str("host", "a").Msg("connecting")
	log.Info().Msg("started")
	log.Error().Msg("no answer")
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","message":"started"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"debug","host":"a","message":"connecting","backtrace":true}
	// {"time":"2026-01-02T15:04:05.000Z","level":"error","message":"no answer"}
}

// Each job has its own backtrace; only the failed job's is written.
func ExampleBacktracer_Scope() {
	bt := sink.Backtrace(nib.WriterSink(os.Stdout), sink.BacktraceConfig{})
	for job, err := range []error{nil, errors.New("no such file")} {
		scope := bt.Scope()
		log := nib.NewSink(scope, noTime, nib.WithLevel(nib.LevelDebug))
		log.Debug().Int("job", job).Msg("reading")
		if err != nil {
			log.Error().Err(err).Msg("job failed")
		}
		scope.Discard() // does nothing after an error
	}
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"debug","job":1,"message":"reading","backtrace":true}
	// {"time":"2026-01-02T15:04:05.000Z","level":"error","error":"no such file","message":"job failed"}
}

func Example_metrics() {
	s := sink.Tee(sink.Named("audit", sink.Discard()), sink.Discard())
	log := nib.NewSink(s)
	log.Info().Msg("started")
	for m := range log.Metrics() {
		if m.Name == "nib_tee_lines_total" {
			fmt.Println(m.Name, m.Labels, m.Value)
		}
	}
	// Output:
	// nib_tee_lines_total [{branch audit}] 1
	// nib_tee_lines_total [{branch 1}] 1
}

// Debug lines are dropped, those up to warn go to standard output, and the rest
// to another writer.
func ExampleRoute() {
	var alarms bytes.Buffer
	log := nib.NewSink(sink.Route(sink.Discard(),
		sink.AtLeast(nib.LevelError, nib.WriterSink(&alarms)),
		sink.AtLeast(nib.LevelInfo, nib.WriterSink(os.Stdout)),
	), noTime, nib.WithLevel(nib.LevelTrace))
	log.Debug().Msg("dropped")
	log.Info().Msg("ready")
	log.Error().Msg("disk is full")
	fmt.Print("alarm: ", alarms.String())
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","message":"ready"}
	// alarm: {"time":"2026-01-02T15:04:05.000Z","level":"error","message":"disk is full"}
}
