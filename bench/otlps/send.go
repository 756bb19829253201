// SPDX-License-Identifier: Apache-2.0

package otlps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/sink/spool"
)

// send sends bursts of records, and writes their Cost without CPU to standard
// output.
func send(name, url, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range Contestants {
		if c := &Contestants[i]; c.Name == name {
			return measure(c, url, n)
		}
	}
	return fmt.Errorf("unknown contestant %q", name)
}

func measure(c *Contestant, url string, n int) error {
	s, err := c.open(url)
	if err != nil {
		return err
	}
	if _, err := bursts(s, 1); err != nil { // buffers and connections warm up
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	quickest, err := bursts(s, n)
	runtime.ReadMemStats(&after)
	cost := Cost{Records: n * Burst, Burst: quickest, Mallocs: after.Mallocs - before.Mallocs, Bytes: after.TotalAlloc - before.TotalAlloc}
	return errors.Join(err, s.close(), json.NewEncoder(os.Stdout).Encode(cost))
}

// bursts sends n bursts, and returns the time of the quickest one.
func bursts(s sender, n int) (quickest time.Duration, err error) {
	for i := range n {
		begin := time.Now()
		s.log(Burst)
		if err := s.flush(); err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 0 || took < quickest {
			quickest = took
		}
	}
	return quickest, nil
}

var errRefused = errors.New("connection refused")

// viaNib logs into a spool in a directory, which delivers by dest/otlp.
type viaNib struct {
	dir   string
	spool *spool.Sink
	l     *nib.Logger
}

func openNib(url string, sync spool.SyncPolicy) (sender, error) {
	dir, err := os.MkdirTemp("", "nib-otlps")
	if err != nil {
		return nil, err
	}
	d, err := otlp.New(url, otlp.Config{})
	if err != nil {
		return nil, err
	}
	s, err := spool.Open(dir, d, spool.Config{Size: 512 << 20, Sync: sync, OnFull: []spool.FullRule{{Do: spool.ActionBlock, Wait: time.Minute}}})
	if err != nil {
		return nil, err
	}
	return &viaNib{dir, s, nib.NewSink(s)}, nil
}

func (v *viaNib) log(n int) {
	for range n {
		v.l.Info().Str("method", "GET").Str("path", "/v1/orders/8731").Int("status", 200).Bool("cached", true).
			Dur("took", 1234567*time.Nanosecond).Err(errRefused).Msg("request handled")
	}
}

func (v *viaNib) flush() error { return v.spool.Flush(context.Background()) }
func (v *viaNib) close() error { return errors.Join(v.spool.Close(), os.RemoveAll(v.dir)) }

// viaSDK logs by log/slog into OpenTelemetry's SDK.
type viaSDK struct {
	provider *sdklog.LoggerProvider
	l        *slog.Logger
}

func openSDK(url string, batch int) (sender, error) {
	exporter, err := otlploghttp.New(context.Background(), otlploghttp.WithEndpointURL(url))
	if err != nil {
		return nil, err
	}
	p := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter,
		sdklog.WithMaxQueueSize(Burst+1), sdklog.WithExportMaxBatchSize(batch))))
	return &viaSDK{p, otelslog.NewLogger("bench", otelslog.WithLoggerProvider(p))}, nil
}

func (v *viaSDK) log(n int) {
	ctx := context.Background()
	for range n {
		v.l.LogAttrs(ctx, slog.LevelInfo, "request handled", slog.String("method", "GET"), slog.String("path", "/v1/orders/8731"), slog.Int("status", 200),
			slog.Bool("cached", true), slog.Duration("took", 1234567*time.Nanosecond), slog.Any("error", errRefused))
	}
}

func (v *viaSDK) flush() error { return v.provider.ForceFlush(context.Background()) }
func (v *viaSDK) close() error { return v.provider.Shutdown(context.Background()) }
