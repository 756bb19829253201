// SPDX-License-Identifier: Apache-2.0

package bridges

import (
	"context"
	"io"
	"log/slog"

	grpczap "github.com/grpc-ecosystem/go-grpc-middleware/logging/zap"
	"github.com/grpc-ecosystem/go-grpc-middleware/logging/zap/ctxzap"
	"go.uber.org/zap"
	"go.uber.org/zap/zapgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/grpclog"

	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/request"
)

const wantGRPC = `{"level":"warn","time":"now","msg":"closing the connection to 10.0.0.7:50051"}`

// rpcScenarios are the contests of gRPC: its own log, and a line for each RPC.
func rpcScenarios() []codec.Scenario {
	return []codec.Scenario{
		contest("BridgeGRPCLog", "grpclog", wantGRPC, Zap, func(w io.Writer) func(n int) {
			return callGRPCLog(zapgrpc.NewLogger(zap.New(zapCore(w))))
		}, func(w io.Writer) func(n int) { return callGRPCLog(nibgrpc.NewLoggerV2(logger(w), 0)) }),
		contest("BridgeRPC", "an RPC, with two fields", "", GRPCZap, func(w io.Writer) func(n int) {
			return callRPC(grpczap.UnaryServerInterceptor(zap.New(zapCore(w))), func(ctx context.Context, _ any) (any, error) {
				ctxzap.AddFields(ctx, zap.String("cart", "c7"), zap.Int("items", 3))
				return nil, nil
			})
		}, func(w io.Writer) func(n int) {
			return callRPC(nibgrpc.UnaryServer(logger(w), nibgrpc.Config{}), func(ctx context.Context, _ any) (any, error) {
				request.AddAttrs(ctx, slog.String("cart", "c7"), slog.Int("items", 3))
				return nil, nil
			})
		}),
	}
}

func callGRPCLog(l grpclog.LoggerV2) func(n int) {
	return func(n int) {
		for range n {
			l.Warning("closing the connection to ", "10.0.0.7:50051")
		}
	}
}

func callRPC(intercept grpc.UnaryServerInterceptor, handler grpc.UnaryHandler) func(n int) {
	ctx, info := context.Background(), &grpc.UnaryServerInfo{FullMethod: "/shop.Cart/Add"}
	return func(n int) {
		for range n {
			_, _ = intercept(ctx, nil, info, handler)
		}
	}
}
