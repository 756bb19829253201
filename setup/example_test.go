// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/setup"
)

// noon makes examples print the same each time.
var noon = nib.WithClock(func() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) })

// A complete main: a mistake in the configuration or an output that cannot be
// opened is reported at once, and nothing is lost at the end.
func Example() {
	log, err := setup.Open(setup.FromEnv("NIB"), setup.Config{Options: []nib.Option{noon}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer log.Close()

	log.Info().Str("version", "1.4.2").Msg("started")
	// Output:
	// {"time":"2026-01-02T12:00:00.000Z","level":"info","version":"1.4.2","message":"started"}
}

// Later sources take precedence: the environment replaces settings of the file,
// and the program replaces both.
func ExampleOpen() {
	file := strings.NewReader(`{"level": "error", "format": "gcp", "fields": {"service": "shop"}}`)
	os.Setenv("SHOP_LEVEL", "warn,db=debug")

	log, err := setup.Open(setup.Load(file), setup.FromEnv("SHOP"), setup.Config{Options: []nib.Option{noon}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()

	log.Info().Msg("not written")
	log.Named("db").Debug().Msg("connected")
	// Output:
	// {"time":"2026-01-02T12:00:00.000000000Z","severity":"DEBUG","logger":"db","service":"shop","message":"connected"}
}

// A variable sends lines to a syslog receiver; they wait in a directory while
// it is down. In a program with Kafka, setup.Kinds(kafka.Kind) is one more
// source.
func ExampleRead() {
	os.Setenv("MAIL_OUTPUT", "syslog+tls://logs:6514?facility=mail&spool=/var/spool/mail-log,stderr?level=error")

	c, err := setup.Read(setup.FromEnv("MAIL"))
	fmt.Println(c.Output, err)
	// Output:
	// [syslog+tls://logs:6514?facility=mail&spool=/var/spool/mail-log stderr?level=error] <nil>
}

// A kind of another package has to be passed to Open.
func ExampleKinds() {
	os.Setenv("SHOP_OUTPUT", "kafka://broker:9092/logs?spool=/var/spool/shop")

	_, err := setup.Read(setup.FromEnv("SHOP")) // with setup.Kinds(kafka.Kind) there is no error
	fmt.Println(err)
	// Output:
	// nib/setup: SHOP_OUTPUT[0]: kafka is a kind of another package: import "github.com/nib-log/nib/dest/kafka" and pass setup.Kinds(kafka.Kind) to setup.Open
}

// The error has all mistakes, each with its place and the allowed values.
func ExampleRead_mistakes() {
	os.Setenv("BAD_FORMAT", "xml")
	os.Setenv("BAD_OUTPUT", "stdout?buffer=64K,file?sync=flush")

	_, err := setup.Read(setup.Load(strings.NewReader(`{"timeout": 5, "levle": "warn"}`)), setup.FromEnv("BAD"))
	fmt.Println(err)
	// Output:
	// nib/setup: timeout: "5" is not a duration (want a number with a unit: 100ms, 5s, 1h30m, 7d)
	// nib/setup: levle: there is no such setting (did you mean level?) (want level, format, output, fields, caller, stack, timeout, signals, reopen, crash, default)
	// nib/setup: BAD_FORMAT: "xml" is not a format (want json, console, logfmt, ecs, gcp, datadog, otel, zap, zerolog, slog or logrus)
	// nib/setup: BAD_OUTPUT[0].buffer: "64K" is not a size (want a number with a unit: 100MB (1000²), 64KiB (1024), 512B)
	// nib/setup: BAD_OUTPUT[1]: want file:PATH, got file
}

// A function of AWS Lambda honours the level and the format that are set there.
func ExampleFromLambda() {
	log, err := setup.Open(setup.FromLambda(), setup.FromEnv("NIB"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer log.Close()
	log.Info().Msg("started")
}

// A server that takes time to stop calls Context: then a signal cancels the
// context, the program returns from main, and Close flushes.
func ExampleLog_Context() {
	log, err := setup.Open(setup.FromEnv("NIB"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer log.Close()

	server := &http.Server{Addr: ":8080"}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		log.Error().Err(err).Msg("cannot serve")
	case <-log.Context().Done():
		log.Info().Err(context.Cause(log.Context())).Msg("stopping")
		_ = server.Shutdown(context.Background()) // requests that are being served are finished
	}
}
