// SPDX-License-Identifier: Apache-2.0

package nibgrpc

import (
	"context"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// UnaryClient returns an interceptor that writes an event to l for each unary
// RPC that the program makes, and passes the ids of the request on.
func UnaryClient(l *nib.Logger, c Config) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption,
	) (err error) {
		x := beginClient(ctx, l, &c, method)
		defer x.end(&err)
		err = invoker(withIDs(ctx), method, req, reply, cc, opts...)
		x.returned = true
		return err
	}
}

// StreamClient returns an interceptor that writes an event to l for each
// streaming RPC that the program makes, when gRPC has finished it: after the
// last message was received, on an error, or when the context is done.
func StreamClient(l *nib.Logger, c Config) grpc.StreamClientInterceptor {
	return func(
		ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption,
	) (s grpc.ClientStream, err error) {
		x := beginClient(ctx, l, &c, method)
		x.stream = true
		defer x.end(&err)
		finish := func(err error) {
			if err == nil && !desc.ServerStreams {
				x.received.Store(1) // gRPC calls finish before RecvMsg returns the only message
			}
			x.finish(err)
		}
		s, err = streamer(withIDs(ctx), desc, cc, method,
			append(opts[:len(opts):len(opts)], grpc.OnFinish(finish))...)
		if err != nil {
			// An error of an interceptor; lines with errors of gRPC are written
			// already.
			x.finish(err)
			return nil, err
		}
		x.open = true
		return &clientStream{s, x}, nil
	}
}

func beginClient(ctx context.Context, l *nib.Logger, c *Config, method string) *call {
	x := &call{config: c, method: method, client: true, start: time.Now()}
	md, _ := metadata.FromOutgoingContext(ctx)
	x.Start(ctx, c.Policy, l, only(md[requestIDKey]), only(md[traceparentKey]))
	return x
}

// withIDs adds the ids of the request that ctx belongs to, unless the metadata
// has them.
func withIDs(ctx context.Context) context.Context {
	r := request.FromContext(ctx)
	if r == nil {
		return ctx
	}
	md, _ := metadata.FromOutgoingContext(ctx)
	if len(md[requestIDKey]) == 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, requestIDKey, r.ID())
	}
	if t := r.Traceparent(); t != "" && len(md[traceparentKey]) == 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, traceparentKey, t)
	}
	return ctx
}

// A clientStream counts messages.
type clientStream struct {
	grpc.ClientStream
	call *call
}

// RecvMsg implements grpc.ClientStream.
func (s *clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil {
		s.call.received.Add(1)
	}
	return err
}

// SendMsg implements grpc.ClientStream.
func (s *clientStream) SendMsg(m any) error {
	err := s.ClientStream.SendMsg(m)
	if err == nil {
		s.call.sent.Add(1)
	}
	return err
}
