// SPDX-License-Identifier: Apache-2.0

package nibgrpc

import (
	"context"
	"time"

	"github.com/nib-log/nib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// The keys of the metadata with the ids of a request.
const (
	requestIDKey   = "x-request-id"
	traceparentKey = "traceparent"
)

// UnaryServer returns an interceptor that writes an event to l for each unary
// RPC.
func UnaryServer(l *nib.Logger, c Config) grpc.UnaryServerInterceptor {
	return func(
		ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
	) (resp any, err error) {
		x := begin(ctx, l, &c, info.FullMethod)
		defer x.end(&err)
		resp, err = handler(&x.Request, req)
		x.returned = true
		return resp, err
	}
}

// StreamServer returns an interceptor that writes an event to l for each
// streaming RPC, when its handler has ended.
func StreamServer(l *nib.Logger, c Config) grpc.StreamServerInterceptor {
	return func(
		srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
	) (err error) {
		x := begin(ss.Context(), l, &c, info.FullMethod)
		x.stream = true
		defer x.end(&err)
		err = handler(srv, &serverStream{ss, x})
		x.returned = true
		return err
	}
}

// begin starts an RPC of a server.
func begin(ctx context.Context, l *nib.Logger, c *Config, method string) *call {
	x := &call{config: c, method: method, start: time.Now()}
	id := ""
	if !c.OwnRequestIDs {
		id = only(metadata.ValueFromIncomingContext(ctx, requestIDKey))
	}
	x.Start(ctx, c.Policy, l, id, only(metadata.ValueFromIncomingContext(ctx, traceparentKey)))
	return x
}

// only returns the value of a key that occurs once, otherwise "".
func only(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// A serverStream has the context of its call and counts messages.
type serverStream struct {
	grpc.ServerStream
	call *call
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return &s.call.Request }

// RecvMsg implements grpc.ServerStream.
func (s *serverStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.call.received.Add(1)
	}
	return err
}

// SendMsg implements grpc.ServerStream.
func (s *serverStream) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if err == nil {
		s.call.sent.Add(1)
	}
	return err
}
