// SPDX-License-Identifier: Apache-2.0

// Package spools measures the cost of lines that survive the death of the
// process: a record into the spool beside a write(2) per line, and a whole log
// call into it beside calls of other loggers that discard their lines. It also
// compares nib's way to a receiver of OTLP, through the spool in a directory,
// with OpenTelemetry's own: log/slog, the bridge otelslog, and the SDK's batch
// processor and its OTLP/HTTP exporter.
package spools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/sink/spool"
)

// line is 200 bytes long.
var line = []byte(`{"time":"2026-03-14T09:26:53.589Z","level":"info","message":"` +
	strings.Repeat("x", 136) + `"}` + "\n")

// Set returns the set of the spool.
func Set() measure.Set {
	const lines = 10_000 // a sustained round has 1,000 times as many and lasts for seconds
	return measure.Set{
		Name: "spool", Path: "docs/spool.md", Note: "Nanoseconds of one line.",
		Modules: bench.Set().Modules,
		Tables: []measure.Table{
			{Title: "A record",
				Note: "A line of 200 bytes. *nib* is a spool in a directory, *nib-memory* " +
					"one without, which ends with the process; lines are delivered from both while the calls " +
					"are measured. *os.File* is a write(2) per line, which survives the process too.",
				Scenarios: []measure.Scenario{
					{Name: "SpoolRecord", Title: "a record, 1 goroutine", Versus: osFile,
						Ops:         lines,
						Contestants: records},
					{Name: "SpoolRecord8", Title: "a record, 8 goroutines", Versus: osFile,
						Ops:        lines,
						Goroutines: 8, Contestants: records},
					{Name: "SpoolRecordSustained", Title: "a record, sustained", Versus: osFile,
						Ops: 1000 * lines, Rounds: 5, Contestants: records},
				}},
			{Title: "A whole log call",
				Note: "nib's into the spool, the calls of the others into a writer " +
					"that does nothing.", Scenarios: []measure.Scenario{
					{Name: "SpoolFields", Title: "10 fields", Ops: lines, Contestants: calls()},
				}},
		},
	}
}

const osFile = "os.File"

var records = []measure.Contestant{
	{Name: "nib", New: func(p measure.Place) measure.Run { return recordRun(directory(p)) }},
	{Name: "nib-memory", New: func(measure.Place) measure.Run { return recordRun("") }},
	{Name: osFile, New: func(p measure.Place) measure.Run {
		f := measure.Must(os.OpenFile(filepath.Join(p.Dir, "app.log"),
			os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
		return measure.Run{Close: f.Close, Do: func(n int) {
			for i := range n {
				_, err := f.Write(line)
				if err == nil && i%1_000_000 == 999_999 { // about as large as a spool
					err = f.Truncate(0)
				}
				if err != nil {
					panic(fmt.Sprintf("spools: %v", err))
				}
			}
		}}
	}},
}

func directory(p measure.Place) string { return filepath.Join(p.Dir, "spool") }

// calls returns whole log calls: nib's into the spool, the calls of the others
// into a writer that discards them.
func calls() []measure.Contestant {
	all := []measure.Contestant{{Name: "nib", New: func(p measure.Place) measure.Run {
		s := open(directory(p))
		l := nib.NewSink(s)
		return measure.Run{Do: func(n int) { bench.NibTen(l, n) }, Check: noneLost(s),
			Close: s.Close}
	}}}
	for _, p := range bench.Peers() {
		if setup := p.Rows["TenFields"]; setup != nil && p.Name != "nib" {
			run := setup(measure.Place{W: nothing{}})
			all = append(all, measure.Ready(p.Name, run))
		}
	}
	return all
}

// nothing is an io.Writer that discards everything. Some libraries encode
// nothing for io.Discard.
type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// accepting is a destination that accepts everything at once.
type accepting struct{}

func (accepting) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	return delivery.Result{Accepted: len(batch)}, nil
}

// open opens a spool that is emptied continuously. Its callers wait for room,
// so that no contestant is timed for dropped lines.
func open(dir string) *spool.Sink {
	return measure.Must(spool.Open(dir, accepting{}, spool.Config{Size: 256 << 20, OnFull: wait}))
}

var wait = []spool.FullRule{{Do: spool.ActionBlock, Wait: time.Minute}}

func recordRun(dir string) measure.Run {
	s := open(dir)
	return measure.Run{Check: noneLost(s), Close: s.Close, Do: func(n int) {
		r := nib.Record{Level: nib.LevelInfo, Line: line}
		for range n {
			if err := s.WriteRecord(&r); err != nil {
				panic(fmt.Sprintf("spools: %v", err))
			}
		}
	}}
}

func noneLost(s *spool.Sink) func() error {
	return func() error {
		if err := s.Flush(context.Background()); err != nil {
			return err
		}
		if st := s.Stats(); st.Lost() > 0 || st.Errors > 0 || st.Pending > 0 ||
			st.Delivered != st.Logged {
			return fmt.Errorf("lines lost or errors: %+v", st)
		}
		return nil
	}
}

// burst is the number of records that are logged before waiting until the
// receiver has accepted them. The SDK's queue has room for them: it drops
// records that do not fit.
const burst = 50_000

// OTLP returns the set of OTLP.
func OTLP() measure.Set {
	return measure.Set{
		Name: "otlp", Path: "docs/otlp.md",
		Note: "50,000 records with six fields, logged by one goroutine and delivered to a " +
			"receiver in another process on the same machine: nanoseconds of a record in " +
			"the quickest burst until the receiver has accepted all of it. *nib* is a spool " +
			"in a directory, *nib-never* a spool with `SyncNever`: its lines survive the " +
			"process, but not a loss of power. The others are log/slog, otelslog, and the " +
			"SDK's batch processor and OTLP/HTTP exporter, with requests of 512 records, " +
			"the default, and of 8192, and a queue that holds a burst; its lines survive " +
			"neither.",
		Modules: []measure.Module{
			{Name: "otelslog", Path: "go.opentelemetry.io/contrib/bridges/otelslog"},
			{Name: "batch processor", Path: "go.opentelemetry.io/otel/sdk/log"},
			{Name: "exporter", Path: "go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"},
		},
		Tables: []measure.Table{{Title: "Delivery", Scenarios: []measure.Scenario{
			{Name: "OTLP", Title: "a record", Versus: "otelslog", Ops: burst, Rounds: 10,
				Contestants: []measure.Contestant{
					{Name: "nib", New: through(openNib(spool.SyncSoon))},
					{Name: "nib-never", New: through(openNib(spool.SyncNever))},
					{Name: "otelslog", New: through(openSDK(512))},
					// As many as in nib's requests.
					{Name: "otelslog-8192", New: through(openSDK(8192))},
				}},
		}}},
	}
}

type opener func(p measure.Place, url string) measure.Run

// through returns a New that starts a receiver, and a Run whose Check compares
// the number of records that have arrived.
func through(open opener) func(measure.Place) measure.Run {
	return func(p measure.Place) measure.Run {
		receiver := child.StartReceiver()
		r := open(p, receiver.URL())
		do, end, sent := r.Do, r.Close, 0
		r.Do = func(n int) { do(n); sent += n }
		r.Check = func() error {
			r.Flush()
			if got := receiver.Records(); got != sent {
				return fmt.Errorf("%d records arrived, want %d", got, sent)
			}
			return nil
		}
		r.Close = func() error { return errors.Join(end(), receiver.Close()) }
		return r
	}
}

var errRefused = errors.New("connection refused")

// openNib logs into a spool in a directory, which delivers by dest/otlp.
func openNib(sync spool.SyncPolicy) opener {
	return func(p measure.Place, url string) measure.Run {
		d := measure.Must(otlp.New(url, otlp.Config{}))
		s := measure.Must(spool.Open(directory(p), d,
			spool.Config{Size: 512 << 20, Sync: sync, OnFull: wait}))
		l := nib.NewSink(s)
		return measure.Run{Do: func(n int) {
			for range n {
				l.Info().Str("method", "GET").Str("path", "/v1/orders/8731").Int("status", 200).
					Bool("cached", true).Dur("took", 1234567*time.Nanosecond).Err(errRefused).
					Msg("request handled")
			}
		}, Flush: func() { _ = s.Flush(context.Background()) }, Close: s.Close}
	}
}

// openSDK logs by log/slog into OpenTelemetry's SDK.
func openSDK(batch int) opener {
	return func(_ measure.Place, url string) measure.Run {
		ctx := context.Background()
		exporter := measure.Must(otlploghttp.New(ctx, otlploghttp.WithEndpointURL(url)))
		provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter,
			sdklog.WithMaxQueueSize(burst+1), sdklog.WithExportMaxBatchSize(batch))))
		l := otelslog.NewLogger("bench", otelslog.WithLoggerProvider(provider))
		return measure.Run{Do: func(n int) {
			for range n {
				l.LogAttrs(ctx, slog.LevelInfo, "request handled", slog.String("method", "GET"),
					slog.String("path", "/v1/orders/8731"), slog.Int("status", 200),
					slog.Bool("cached", true), slog.Duration("took", 1234567*time.Nanosecond),
					slog.Any("error", errRefused))
			}
		}, Flush: func() { _ = provider.ForceFlush(ctx) }, Close: func() error {
			return provider.Shutdown(ctx)
		}}
	}
}
