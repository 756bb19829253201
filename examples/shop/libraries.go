// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"
	"google.golang.org/grpc/grpclog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/bridge/niblogr"
	"github.com/nib-log/nib/bridge/nibzap"
)

// useForLibraries makes libraries with a logger for the whole process use log.
// setup has done so for log/slog and log.
func useForLibraries(log *nib.Logger) {
	grpclog.SetLoggerV2(nibgrpc.NewLoggerV2(log.Named("grpc"), 0))
	otelLog := log.Named("otel")
	otel.SetLogger(niblogr.New(otelLog))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		otelLog.Error().Err(err).Msg("cannot trace")
	}))
}

// withLogr returns ctx with a logr.Logger whose lines have the ids of the
// request, for libraries that use logr.FromContext.
func withLogr(ctx context.Context) context.Context {
	return logr.NewContext(ctx, niblogr.New(nib.FromContext(ctx)))
}

// zapLogger returns a *zap.Logger whose lines have the ids of the request.
func zapLogger(ctx context.Context) *zap.Logger {
	return zap.New(nibzap.NewCore(nib.FromContext(ctx)), zap.AddCaller())
}

// startTracing sends spans to the Collector at OTEL_EXPORTER_OTLP_ENDPOINT.
// Without it spans only give the lines their ids.
func startTracing(ctx context.Context) (stop func(), err error) {
	var opts []trace.TracerProviderOption
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, err
		}
		opts = append(opts, trace.WithBatcher(exporter))
	}
	provider := trace.NewTracerProvider(opts...)
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}, nil
}
