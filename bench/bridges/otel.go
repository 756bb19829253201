// SPDX-License-Identifier: Apache-2.0

package bridges

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutlog"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
	sdk "go.opentelemetry.io/otel/sdk/log"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bridge/nibotel"
	"github.com/nib-log/nib/nibslog"
)

// otelScenarios are the contests of OpenTelemetry's Logs API, in both
// directions.
func otelScenarios() []codec.Scenario {
	return []codec.Scenario{
		contest("BridgeOTelIn", "OpenTelemetry to lines", "", OTel, func(w io.Writer) func(n int) {
			out, err := stdoutlog.New(stdoutlog.WithWriter(w))
			if err != nil {
				panic(err)
			}
			return callOTel(sdk.NewLoggerProvider(sdk.WithProcessor(sdk.NewSimpleProcessor(out))))
		}, func(w io.Writer) func(n int) { return callOTel(nibotel.NewLoggerProvider(logger(w))) }),
		contest("BridgeOTelOut", "slog to OpenTelemetry", "", OTelSlog, func(io.Writer) func(n int) {
			return callSlog(slog.New(otelslog.NewHandler("shop", otelslog.WithLoggerProvider(discarding{}))))
		}, func(io.Writer) func(n int) {
			return callSlog(slog.New(nibslog.NewHandler(nib.NewSink(nibotel.NewSink(discarding{}.Logger("shop"))))))
		}),
	}
}

// discarding drops records.
type discarding struct{ embedded.LoggerProvider }

func (discarding) Logger(string, ...log.LoggerOption) log.Logger { return discardingLogger{} }

type discardingLogger struct{ embedded.Logger }

func (discardingLogger) Emit(context.Context, log.Record)                    {}
func (discardingLogger) Enabled(context.Context, log.EnabledParameters) bool { return true }

func callOTel(p log.LoggerProvider) func(n int) {
	l, ctx := p.Logger("shop"), context.Background()
	return func(n int) {
		for range n {
			var r log.Record
			r.SetSeverity(log.SeverityInfo)
			r.SetBody(attribute.StringValue(message))
			r.AddAttributes(attribute.String("method", "GET"), attribute.String("path", path), attribute.Int("status", 200),
				attribute.Int64("took", int64(took)), attribute.Bool("cached", true))
			l.Emit(ctx, r)
		}
	}
}

func callSlog(l *slog.Logger) func(n int) {
	ctx := context.Background()
	return func(n int) {
		for range n {
			l.LogAttrs(ctx, slog.LevelInfo, message, slog.String("method", "GET"), slog.String("path", path), slog.Int("status", 200),
				slog.Duration("took", took), slog.Bool("cached", true))
		}
	}
}
