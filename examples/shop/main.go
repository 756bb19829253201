// SPDX-License-Identifier: Apache-2.0

// Command shop is a service in which everything logs through one nib.Logger:
// its HTTP edge and its gRPC service with one event per request, the statements
// of its database, and libraries that use logr, zap, slog, gRPC's logger and
// OpenTelemetry's. Each line of a request has its trace id. README.md shows how
// to run it, and the lines.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/bridge/nibotel"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/examples/shop/stockpb"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/sink"
)

func main() {
	log, err := setup.Open(setup.Kinds(kafka.Kind), setup.Config{
		Level:   "info,grpc=warn",
		Caller:  setup.SwitchOn,
		Default: setup.SwitchOn, // lines of nib, slog and log without a context
		Options: []nib.Option{
			nib.WithContextFields(nibotel.ContextFields),  // trace_id and span_id
			nib.WithDuplicateKeys(nib.DuplicatesLastWins), // the span_id of the innermost span
		},
	}, setup.FromEnv("NIB"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer log.Close() // flushes
	if err := run(log.Context(), log.Logger); err != nil {
		log.Fatal().Err(err).Msg("cannot run")
	}
	log.Info().Msg("stopped")
}

// run serves until ctx ends, and then finishes the requests in progress.
func run(ctx context.Context, log *nib.Logger) error {
	stopTracing, err := startTracing(ctx)
	if err != nil {
		return err
	}
	defer stopTracing()
	useForLibraries(log)
	db, err := openStore(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer db.Close()

	policy := request.New(request.Config{
		Slow: time.Second,
		// Debug lines of those that fail.
		Backtrace: sink.Backtrace(log.Sink(), sink.BacktraceConfig{}),
	})
	rpcs, addr, err := serveRPCs(log, policy, db)
	if err != nil {
		return err
	}
	defer rpcs.GracefulStop()
	conn, err := grpc.NewClient(addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler()),
		grpc.WithChainUnaryInterceptor(
			nibgrpc.UnaryClient(log.Named("edge"), nibgrpc.Config{Policy: policy})),
	)
	if err != nil {
		return err
	}
	defer conn.Close()

	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("HTTP_ADDR"), "127.0.0.1:8080"))
	if err != nil {
		return err
	}
	events := nibhttp.Middleware(log.Named("edge"), nibhttp.Config{Policy: policy})
	server := &http.Server{
		Handler: otelhttp.NewHandler(events(routes(stockpb.NewStockClient(conn))),
			"http"),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.StdLog(nib.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Info().Stringer("http", listener.Addr()).Str("grpc", addr).Msg("listening")

	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(grace))
}

// serveRPCs serves the gRPC service until the server is stopped.
func serveRPCs(
	log *nib.Logger, policy *request.Policy, db *store,
) (s *grpc.Server, addr string, err error) {
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("GRPC_ADDR"), "127.0.0.1:0"))
	if err != nil {
		return nil, "", err
	}
	s = grpc.NewServer(
		grpc.StatsHandler(otelgrpc.NewServerHandler()),
		grpc.ChainUnaryInterceptor(
			nibgrpc.UnaryServer(log.Named("stock"), nibgrpc.Config{Policy: policy})),
	)
	stockpb.RegisterStockServer(s, &stock{db: db})
	go func() {
		if err := s.Serve(listener); err != nil {
			log.Error().Err(err).Msg("cannot serve RPCs")
		}
	}()
	return s, listener.Addr().String(), nil
}
