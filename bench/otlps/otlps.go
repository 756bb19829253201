// SPDX-License-Identifier: Apache-2.0

// Package otlps compares nib's way to a receiver of OTLP, through the spool in
// a directory, with OpenTelemetry's own: log/slog, the bridge otelslog, and the
// SDK's batch processor and its OTLP/HTTP exporter.
package otlps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/sink/spool"
)

// burst is the number of records that are logged before waiting until the
// receiver has accepted them. The SDK's queue has room for them: it drops
// records that do not fit.
const burst = 50_000

// Set returns the set of OTLP.
func Set() measure.Set {
	return measure.Set{
		Name: "otlp", Path: "docs/otlp.md",
		Note: "50,000 records with six fields, logged by one goroutine and delivered to a receiver in " +
			"another process on the same machine: nanoseconds of a record in the quickest burst until " +
			"the receiver has accepted all of it. *nib* is a spool in a directory, *nib-never* a spool " +
			"with `SyncNever`: its lines survive the process, but not a loss of power. The others are " +
			"log/slog, otelslog, and the SDK's batch processor and OTLP/HTTP exporter, with requests of " +
			"512 records, the default, and of 8192, and a queue that holds a burst; its lines survive " +
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
					{Name: "otelslog-8192", New: through(openSDK(8192))}, // as many as in nib's requests
				}},
		}}},
	}
}

type opener func(p measure.Place, url string) (measure.Run, error)

// through returns a New that starts a receiver, and a Run whose Check compares
// the number of records that have arrived.
func through(open opener) func(measure.Place) (measure.Run, error) {
	return func(p measure.Place) (measure.Run, error) {
		receiver, err := child.StartReceiver()
		if err != nil {
			return measure.Run{}, err
		}
		r, err := open(p, receiver.URL())
		if err != nil {
			return r, errors.Join(err, receiver.Close())
		}
		do, end, sent := r.Do, r.Close, 0
		r.Do = func(n int) { do(n); sent += n }
		r.Check = func() error {
			r.Flush()
			if got, err := receiver.Records(); err != nil || got != sent {
				return fmt.Errorf("%d records arrived, %v, want %d", got, err, sent)
			}
			return nil
		}
		r.Close = func() error { return errors.Join(end(), receiver.Close()) }
		return r, nil
	}
}

var errRefused = errors.New("connection refused")

// openNib logs into a spool in a directory, which delivers by dest/otlp.
func openNib(sync spool.SyncPolicy) opener {
	return func(p measure.Place, url string) (measure.Run, error) {
		d, err := otlp.New(url, otlp.Config{})
		if err != nil {
			return measure.Run{}, err
		}
		s, err := spool.Open(filepath.Join(p.Dir, "spool"), d, spool.Config{Size: 512 << 20, Sync: sync,
			OnFull: []spool.FullRule{{Do: spool.ActionBlock, Wait: time.Minute}}})
		if err != nil {
			return measure.Run{}, err
		}
		l := nib.NewSink(s)
		return measure.Run{Do: func(n int) {
			for range n {
				l.Info().Str("method", "GET").Str("path", "/v1/orders/8731").Int("status", 200).
					Bool("cached", true).Dur("took", 1234567*time.Nanosecond).Err(errRefused).
					Msg("request handled")
			}
		}, Flush: func() { _ = s.Flush(context.Background()) }, Close: s.Close}, nil // Check finds losses
	}
}

// openSDK logs by log/slog into OpenTelemetry's SDK.
func openSDK(batch int) opener {
	return func(_ measure.Place, url string) (measure.Run, error) {
		ctx := context.Background()
		exporter, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(url))
		if err != nil {
			return measure.Run{}, err
		}
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
		}}, nil
	}
}
