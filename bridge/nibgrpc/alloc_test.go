// SPDX-License-Identifier: Apache-2.0

package nibgrpc_test

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
	"google.golang.org/grpc"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// countMallocs reports how many mallocs a call of f has.
func countMallocs(t *testing.T, what string, want float64, f func()) {
	t.Helper()
	if got, _ := alloctest.Count(f, 1000); got != want {
		t.Errorf("%s: got %v mallocs, want %v", what, got, want)
	}
}

func TestMallocsOfAnRPC(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	log := nib.NewSink(sink.Discard())
	info := &grpc.UnaryServerInfo{FullMethod: "/shop.Cart/Add"}
	ctx := t.Context()
	silent := func(context.Context, any) (any, error) { return nil, nil }
	adds := func(ctx context.Context, _ any) (any, error) {
		request.AddAttrs(ctx, slog.String("cart", "c7"), slog.Int("items", 3))
		return nil, nil
	}
	logs := func(ctx context.Context, _ any) (any, error) {
		nib.FromContext(ctx).Info().Int("items", 3).Msg("added")
		return nil, nil
	}
	server := nibgrpc.UnaryServer(log, nibgrpc.Config{})
	for _, tt := range []struct {
		name    string
		handler grpc.UnaryHandler
		want    float64
	}{
		{"server", silent, 1}, // the call, which is the context
		{"server, fields", adds, 1},
		{"server, its logger", logs, 1 + 2}, // the logger with the ids
	} {
		countMallocs(t, tt.name, tt.want, func() { _, _ = server(ctx, nil, info, tt.handler) })
	}

	known := metadata.NewIncomingContext(peer.NewContext(ctx, &peer.Peer{Addr: new(net.UnixAddr)}), metadata.Pairs("x-request-id", "r1"))
	countMallocs(t, "server, id of the client", 1+1, func() { _, _ = server(known, nil, info, silent) }) // the copy by metadata.ValueFromIncomingContext

	client := nibgrpc.UnaryClient(log, nibgrpc.Config{})
	invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	countMallocs(t, "client", 1, func() { _ = client(ctx, "/shop.Cart/Add", nil, nil, nil, invoke) })
}

func TestMallocsOfALineOfGRPC(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	l := nib.NewSink(sink.Discard(), nib.WithLevel(nib.LevelWarn))
	g := nibgrpc.NewLoggerV2(l, 0).(grpclog.DepthLoggerV2)
	args := []any{"[core]", "channel created"}
	countMallocs(t, "disabled", 0, func() { g.InfoDepth(1, args...) })
	countMallocs(t, "enabled", 1, func() { g.WarningDepth(1, args...) }) // the text that fmt.Sprintln makes
}
