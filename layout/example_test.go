// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// at stops the clock, so that the examples always print the same.
var at = nib.WithClock(func() time.Time {
	return time.Date(2026, 1, 2, 15, 4, 5, 120000000, time.FixedZone("", 3600))
})

// show logs two lines under a layout.
func show(l nib.Layout) {
	log := nib.New(os.Stdout, nib.WithLayout(l), at).Named("shop")
	log.Info().Str("host", "10.0.0.7").Dur("took", 1500*time.Microsecond).Msg("connected")
	log.Error().Err(errors.New("card declined")).Int("user", 42).Msg("payment failed")
}

func ExampleECS() {
	show(layout.ECS())
	// Output:
	// {"@timestamp":"2026-01-02T14:04:05.120Z","log.level":"info","log.logger":"shop","message":"connected","ecs.version":"8.11.0","host":"10.0.0.7","took":1500000}
	// {"@timestamp":"2026-01-02T14:04:05.120Z","log.level":"error","log.logger":"shop","message":"payment failed","ecs.version":"8.11.0","error.message":"card declined","error.type":"*errors.errorString","user":42}
}

func ExampleGCP() {
	show(layout.GCP())
	// Output:
	// {"time":"2026-01-02T14:04:05.120000000Z","severity":"INFO","logger":"shop","host":"10.0.0.7","took":1.5,"message":"connected"}
	// {"time":"2026-01-02T14:04:05.120000000Z","severity":"ERROR","logger":"shop","error":"card declined","user":42,"message":"payment failed"}
}

func ExampleDatadog() {
	show(layout.Datadog())
	// Output:
	// {"timestamp":"2026-01-02T14:04:05.120Z","status":"info","logger.name":"shop","host":"10.0.0.7","took":1500000,"message":"connected"}
	// {"timestamp":"2026-01-02T14:04:05.120Z","status":"error","logger.name":"shop","error.message":"card declined","error.kind":"*errors.errorString","user":42,"message":"payment failed"}
}

func ExampleOTel() {
	show(layout.OTel())
	// Output:
	// {"Timestamp":"2026-01-02T14:04:05.120000000Z","SeverityText":"INFO","otel.scope.name":"shop","host":"10.0.0.7","took":0.0015,"Body":"connected"}
	// {"Timestamp":"2026-01-02T14:04:05.120000000Z","SeverityText":"ERROR","otel.scope.name":"shop","exception.message":"card declined","exception.type":"*errors.errorString","user":42,"Body":"payment failed"}
}

func ExampleZap() {
	show(layout.Zap())
	// Output:
	// {"ts":1767362645,"level":"info","logger":"shop","msg":"connected","host":"10.0.0.7","took":0.0015}
	// {"ts":1767362645,"level":"error","logger":"shop","msg":"payment failed","error":"card declined","user":42}
}

func ExampleZerolog() {
	show(layout.Zerolog())
	// Output:
	// {"time":"2026-01-02T15:04:05+01:00","level":"info","logger":"shop","host":"10.0.0.7","took":1.5,"message":"connected"}
	// {"time":"2026-01-02T15:04:05+01:00","level":"error","logger":"shop","error":"card declined","user":42,"message":"payment failed"}
}

func ExampleLogrus() {
	show(layout.Logrus())
	// Output:
	// {"time":"2026-01-02T15:04:05+01:00","level":"info","logger":"shop","msg":"connected","host":"10.0.0.7","took":1500000}
	// {"time":"2026-01-02T15:04:05+01:00","level":"error","logger":"shop","msg":"payment failed","error":"card declined","user":42}
}

func ExampleSlog() {
	show(layout.Slog())
	// Output:
	// {"time":"2026-01-02T15:04:05.12+01:00","level":"INFO","logger":"shop","msg":"connected","host":"10.0.0.7","took":1500000}
	// {"time":"2026-01-02T15:04:05.12+01:00","level":"ERROR","logger":"shop","msg":"payment failed","error":"card declined","user":42}
}

// A layout is a value: change its fields as you need.
func Example() {
	l := layout.ECS()
	l.Static = func(e *nib.Event) { e.Str("ecs.version", "9.0.0").Str("service.name", "shop") }
	log := nib.New(os.Stdout, nib.WithLayout(l), at)
	log.Info().Msg("started")
	// Output:
	// {"@timestamp":"2026-01-02T14:04:05.120Z","log.level":"info","message":"started","ecs.version":"9.0.0","service.name":"shop"}
}
func ExampleErrorCauses() {
	log := nib.New(os.Stdout, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, Error: layout.ErrorCauses}))
	log.Error().Err(fmt.Errorf("save order: %w", errors.New("disk full"))).Send()
	// Output:
	// {"level":"error","error":"save order: disk full","error_causes":["disk full"]}
}
