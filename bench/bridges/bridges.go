// SPDX-License-Identifier: Apache-2.0

// Package bridges compares nib behind other logging APIs with each API's own
// implementation, or the usual one: zap's core, zapr, hclog's logger, zapgrpc
// and grpc_zap, otelslog and the SDK of OpenTelemetry.
package bridges

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bridge/nibhclog"
	"github.com/nib-log/nib/bridge/niblogr"
	"github.com/nib-log/nib/bridge/nibzap"
	"github.com/nib-log/nib/layout"
)

// Names of the contestants that are not nib.
const (
	Zap   = "zap"
	Zapr  = "zapr"
	Hclog = "hclog"

	GRPCZap  = "grpc_zap"
	OTel     = "otelsdk"
	OTelSlog = "otelslog"
)

// Most is the maximum time of nib as a multiple of the other's.
const Most = 0.7

// Slower has the scenarios that take longer than that, and the reasons.
var Slower = map[string]string{
	"BridgeOTelOut": "a line is written and read again, while otelslog converts attributes",
}

// Modules are the paths of the contestants that are modules.
var Modules = []struct{ Name, Path string }{
	{Zap, "go.uber.org/zap"}, {Zapr, "github.com/go-logr/zapr"}, {Hclog, "github.com/hashicorp/go-hclog"},
	{GRPCZap, "github.com/grpc-ecosystem/go-grpc-middleware"}, {OTel, "go.opentelemetry.io/otel/sdk/log"},
	{OTelSlog, "go.opentelemetry.io/contrib/bridges/otelslog"},
}

const (
	fields    = `"method":"GET","path":"/v1/orders/8731","status":200,"cached":true,"err":"connection refused"}`
	wantZap   = `{"level":"info","time":"now","msg":"request handled","took":0.001234567,` + fields
	wantHclog = `{"@level":"info","@timestamp":"now","@message":"request handled","took":1234567,` + fields
)

// Scenarios returns all contests.
func Scenarios() []codec.Scenario {
	return slices.Concat(fieldScenarios(), rpcScenarios(), otelScenarios())
}

// fieldScenarios are the contests of the APIs that have messages and fields.
func fieldScenarios() []codec.Scenario {
	return []codec.Scenario{
		contest("BridgeZap", "zap", wantZap, Zap, func(w io.Writer) func(n int) { return callZap(zap.New(zapCore(w))) },
			func(w io.Writer) func(n int) { return callZap(zap.New(nibzap.NewCore(logger(w)))) }),
		contest("BridgeZapCaller", "zap, with the call site", "", Zap, func(w io.Writer) func(n int) { return callZap(zap.New(zapCore(w), zap.AddCaller())) },
			func(w io.Writer) func(n int) { return callZap(zap.New(nibzap.NewCore(logger(w)), zap.AddCaller())) }),
		contest("BridgeLogr", "logr", wantZap, Zapr, func(w io.Writer) func(n int) {
			return callLogr(zapr.NewLoggerWithOptions(zap.New(zapCore(w)), zapr.LogInfoLevel("")))
		},
			func(w io.Writer) func(n int) { return callLogr(niblogr.New(logger(w))) }),
		contest("BridgeLogrCaller", "logr, with the call site", "", Zapr, func(w io.Writer) func(n int) {
			return callLogr(zapr.NewLoggerWithOptions(zap.New(zapCore(w), zap.AddCaller()), zapr.LogInfoLevel("")))
		},
			func(w io.Writer) func(n int) { return callLogr(niblogr.New(logger(w, nib.WithCaller()))) }),
		contest("BridgeHclog", "hclog", wantHclog, Hclog, func(w io.Writer) func(n int) { return callHclog(hclogger(w, false)) },
			func(w io.Writer) func(n int) {
				return callHclog(nibhclog.New(nib.New(w, nib.WithLayout(nibhclog.Layout()))))
			}),
		contest("BridgeHclogCaller", "hclog, with the call site", "", Hclog, func(w io.Writer) func(n int) { return callHclog(hclogger(w, true)) },
			func(w io.Writer) func(n int) {
				return callHclog(nibhclog.New(nib.New(w, nib.WithLayout(nibhclog.Layout()), nib.WithCaller())))
			}),
	}
}

func contest(name, title, want, peer string, other, own func(w io.Writer) func(n int)) codec.Scenario {
	return codec.Scenario{Name: name, Title: title, Versus: peer, Want: want,
		Contestants: []codec.Contestant{{Name: codec.Nib, New: own}, {Name: peer, New: other}}}
}

// logger writes the lines of zapCore.
func logger(w io.Writer, opts ...nib.Option) *nib.Logger {
	l := layout.Zap()
	l.TimeKey, l.TimeFormat = "time", time.RFC3339Nano
	return nib.New(w, append(opts, nib.WithLayout(l))...)
}

func zapCore(w io.Writer) zapcore.Core {
	c := zap.NewProductionEncoderConfig()
	c.TimeKey, c.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	return zapcore.NewCore(zapcore.NewJSONEncoder(c), zapcore.AddSync(w), zap.InfoLevel)
}

func hclogger(w io.Writer, caller bool) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: w, JSONFormat: true, IncludeLocation: caller})
}

const (
	message = "request handled"
	path    = "/v1/orders/8731"
	took    = 1234567 * time.Nanosecond
)

var errRefused = errors.New("connection refused")

func callZap(l *zap.Logger) func(n int) {
	return func(n int) {
		for range n {
			l.Info(message, zap.String("method", "GET"), zap.String("path", path), zap.Int("status", 200),
				zap.Duration("took", took), zap.Bool("cached", true), zap.NamedError("err", errRefused))
		}
	}
}

func callLogr(l logr.Logger) func(n int) {
	return func(n int) {
		for range n {
			l.Info(message, "method", "GET", "path", path, "status", 200, "took", took, "cached", true, "err", errRefused)
		}
	}
}

func callHclog(l hclog.Logger) func(n int) {
	return func(n int) {
		for range n {
			l.Info(message, "method", "GET", "path", path, "status", 200, "took", took, "cached", true, "err", errRefused)
		}
	}
}
