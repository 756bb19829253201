// SPDX-License-Identifier: Apache-2.0

// Package bridges compares nib behind other logging APIs with each API's own
// implementation, or the usual one: zap's core, zapr, hclog's logger, grpc_zap,
// otelslog and the SDK of OpenTelemetry. Its tests compare the records of
// OpenTelemetry.
package bridges

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	grpczap "github.com/grpc-ecosystem/go-grpc-middleware/logging/zap"
	"github.com/grpc-ecosystem/go-grpc-middleware/logging/zap/ctxzap"
	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutlog"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
	sdk "go.opentelemetry.io/otel/sdk/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/bridge/nibhclog"
	"github.com/nib-log/nib/bridge/niblogr"
	"github.com/nib-log/nib/bridge/nibotel"
	"github.com/nib-log/nib/bridge/nibzap"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/request"
)

const (
	fields    = `"method":"GET","path":"/v1/orders/8731","status":200,"cached":true,"err":"connection refused"}`
	wantZap   = `{"level":"info","time":"now","msg":"request handled","took":0.001234567,` + fields
	wantHclog = `{"@level":"info","@timestamp":"now","@message":"request handled","took":1234567,` +
		fields

	message = "request handled"
	path    = "/v1/orders/8731"
	took    = 1234567 * time.Nanosecond
)

var errRefused = errors.New("connection refused")

// Set returns the set of the bridges.
func Set() measure.Set {
	return measure.Set{
		Name: "bridges", Path: "docs/bridges.md",
		Note: "Nanoseconds of one call with six fields to `io.Discard`. The aim is at most 0.7 " +
			"of the " +
			"other's time, and no allocations but the API's own: zap's fields, and the slice of " +
			"arguments of logr and hclog. Slower is slog to OpenTelemetry: a line is written and read " +
			"again, while otelslog converts attributes.",
		Modules: []measure.Module{
			{Name: "zap", Path: "go.uber.org/zap"},
			{Name: "zapr", Path: "github.com/go-logr/zapr"},
			{Name: "hclog", Path: "github.com/hashicorp/go-hclog"},
			{Name: "grpc_zap", Path: "github.com/grpc-ecosystem/go-grpc-middleware"},
			{Name: "otelsdk", Path: "go.opentelemetry.io/otel/sdk/log"},
			{Name: "otelslog", Path: "go.opentelemetry.io/contrib/bridges/otelslog"},
		},
		Tables: []measure.Table{{Title: "One call", Scenarios: scenarios()}},
	}
}

func scenarios() []measure.Scenario {
	return []measure.Scenario{
		contest("BridgeZap", "zap", bench.Same(wantZap), callZap,
			func(w io.Writer) *zap.Logger { return zap.New(nibzap.NewCore(logger(w))) }, "zap",
			newZap),
		contest("BridgeLogr", "logr", bench.Same(wantZap), callLogr,
			func(w io.Writer) logr.Logger { return niblogr.New(logger(w)) }, "zapr",
			func(w io.Writer) logr.Logger {
				return zapr.NewLoggerWithOptions(newZap(w), zapr.LogInfoLevel(""))
			}),
		contest("BridgeHclog", "hclog", bench.Same(wantHclog), callHclog,
			func(w io.Writer) hclog.Logger {
				return nibhclog.New(nib.New(w, nib.WithLayout(nibhclog.Layout())))
			}, "hclog",
			func(w io.Writer) hclog.Logger {
				return hclog.New(&hclog.LoggerOptions{Output: w, JSONFormat: true})
			}),
		contest("BridgeRPC", "an RPC, with two fields",
			measure.Part(`"cart":"c7","items":3`), callRPC,
			func(w io.Writer) rpc {
				return rpc{nibgrpc.UnaryServer(logger(w), nibgrpc.Config{}),
					func(ctx context.Context) {
						request.AddAttrs(ctx, slog.String("cart", "c7"), slog.Int("items", 3))
					}}
			}, "grpc_zap",
			func(w io.Writer) rpc {
				return rpc{grpczap.UnaryServerInterceptor(newZap(w)), func(ctx context.Context) {
					ctxzap.AddFields(ctx, zap.String("cart", "c7"), zap.Int("items", 3))
				}}
			}),
		contest("BridgeOTelIn", "OpenTelemetry to lines", measure.Part(path), callOTel,
			func(w io.Writer) log.Logger {
				return nibotel.NewLoggerProvider(logger(w)).Logger("shop")
			},
			"otelsdk", func(w io.Writer) log.Logger {
				out := measure.Must(stdoutlog.New(stdoutlog.WithWriter(w)))
				processor := sdk.WithProcessor(sdk.NewSimpleProcessor(out))
				return sdk.NewLoggerProvider(processor).Logger("shop")
			}),
		// The tests compare its records.
		contest("BridgeOTelOut", "slog to OpenTelemetry", nil, callSlog,
			func(io.Writer) *slog.Logger {
				sink := nibotel.NewSink(discarding{}.Logger("shop"))
				return slog.New(nibslog.NewHandler(nib.NewSink(sink)))
			}, "otelslog", func(io.Writer) *slog.Logger {
				return slog.New(
					otelslog.NewHandler("shop", otelslog.WithLoggerProvider(discarding{})))
			}),
	}
}

type same = func(*measure.Contestant, []byte) error

func contest[L any](name, title string, same same, call func(l L, n int), own func(io.Writer) L,
	peer string, other func(io.Writer) L) measure.Scenario {
	return measure.Scenario{Name: name, Title: title, Versus: peer, Same: same,
		Contestants: []measure.Contestant{
			{Name: "nib", New: bench.Row(own, call)},
			{Name: peer, New: bench.Row(other, call)},
		}}
}

// logger writes the lines of newZap.
func logger(w io.Writer) *nib.Logger {
	l := layout.Zap()
	l.TimeKey, l.TimeFormat = "time", time.RFC3339Nano
	return nib.New(w, nib.WithLayout(l))
}

func newZap(w io.Writer) *zap.Logger {
	c := zap.NewProductionEncoderConfig()
	c.TimeKey, c.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(c), zapcore.AddSync(w), zap.InfoLevel))
}

func callZap(l *zap.Logger, n int) {
	for range n {
		l.Info(message, zap.String("method", "GET"), zap.String("path", path),
			zap.Int("status", 200),
			zap.Duration("took", took), zap.Bool("cached", true), zap.NamedError("err", errRefused))
	}
}

func callLogr(l logr.Logger, n int) {
	for range n {
		l.Info(message, "method", "GET", "path", path, "status", 200, "took", took, "cached", true,
			"err", errRefused)
	}
}

func callHclog(l hclog.Logger, n int) {
	for range n {
		l.Info(message, "method", "GET", "path", path, "status", 200, "took", took, "cached", true,
			"err", errRefused)
	}
}

// An rpc is an interceptor, and a handler that adds fields to its line.
type rpc struct {
	intercept grpc.UnaryServerInterceptor
	add       func(ctx context.Context)
}

func callRPC(r rpc, n int) {
	ctx, info := context.Background(), &grpc.UnaryServerInfo{FullMethod: "/shop.Cart/Add"}
	handler := func(ctx context.Context, _ any) (any, error) {
		r.add(ctx)
		return nil, nil
	}
	for range n {
		_, _ = r.intercept(ctx, nil, info, handler)
	}
}

func callOTel(l log.Logger, n int) {
	ctx := context.Background()
	for range n {
		var r log.Record
		r.SetSeverity(log.SeverityInfo)
		r.SetBody(attribute.StringValue(message))
		r.AddAttributes(attribute.String("method", "GET"), attribute.String("path", path),
			attribute.Int("status", 200), attribute.Int64("took", int64(took)),
			attribute.Bool("cached", true))
		l.Emit(ctx, r)
	}
}

func callSlog(l *slog.Logger, n int) {
	ctx := context.Background()
	for range n {
		l.LogAttrs(ctx, slog.LevelInfo, message, slog.String("method", "GET"),
			slog.String("path", path),
			slog.Int("status", 200), slog.Duration("took", took), slog.Bool("cached", true))
	}
}

// discarding drops records.
type discarding struct{ embedded.LoggerProvider }

func (discarding) Logger(string, ...log.LoggerOption) log.Logger { return discardingLogger{} }

type discardingLogger struct{ embedded.Logger }

func (discardingLogger) Emit(context.Context, log.Record)                    {}
func (discardingLogger) Enabled(context.Context, log.EnabledParameters) bool { return true }
