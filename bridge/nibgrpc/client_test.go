// SPDX-License-Identifier: Apache-2.0

package nibgrpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
)

// A counter answers a stream of requests with one message.
type counter struct {
	pb.UnimplementedTestServiceServer
}

func (counter) StreamingInputCall(s pb.TestService_StreamingInputCallServer) error {
	for {
		if _, err := s.Recv(); err == io.EOF {
			return s.SendAndClose(&pb.StreamingInputCallResponse{})
		} else if err != nil {
			return err
		}
	}
}

// gRPC reports the end of such an RPC before the call that receives the only
// message returns.
func TestTheOnlyMessageThatAClientReceivesIsCounted(t *testing.T) {
	var rec recordtest.Recorder
	server := grpc.NewServer()
	pb.RegisterTestServiceServer(server, counter{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainStreamInterceptor(nibgrpc.StreamClient(nib.NewSink(&rec), nibgrpc.Config{})))
	must.Succeed(t, err)
	defer conn.Close()
	s, err := pb.NewTestServiceClient(conn).StreamingInputCall(t.Context())
	must.Succeed(t, err)
	for range 2 {
		must.Succeed(t, s.Send(&pb.StreamingInputCallRequest{}))
	}
	if _, err := s.CloseAndRecv(); err != nil {
		t.Fatal(err)
	}
	if got := rec.Find("client rpc"); rec.Len() != 1 || got["sent"] != 2.0 || got["received"] != 1.0 {
		t.Errorf("got %q, want 2 messages sent and 1 received", rec.Lines())
	}
}

// TestAnRPCThatEndsInAPanicOfTheClientIsAnError has inner interceptors that
// panic, end the goroutine or fail.
func TestAnRPCThatEndsInAPanicOfTheClientIsAnError(t *testing.T) {
	for _, tt := range []struct {
		name      string
		inner     func() error
		code      string
		panicText any
		aborted   any
		goesOn    any
	}{
		{"panic", func() error { panic("boom") }, "Internal", "boom", true, "boom"},
		{"goexit", func() error { runtime.Goexit(); return nil }, "Internal", nil, true, nil},
		{"error", func() error { return errors.New("refused") }, "Unknown", nil, nil, nil},
	} {
		unary := func(l *nib.Logger) {
			_ = nibgrpc.UnaryClient(l, nibgrpc.Config{})(t.Context(), "/a/b", nil, nil, nil,
				func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return tt.inner() })
		}
		stream := func(l *nib.Logger) {
			_, _ = nibgrpc.StreamClient(l, nibgrpc.Config{})(t.Context(), &grpc.StreamDesc{}, nil, "/a/b",
				func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
					return nil, tt.inner()
				})
		}
		for kind, call := range map[string]func(*nib.Logger){"unary": unary, "stream": stream} {
			t.Run(tt.name+" "+kind, func(t *testing.T) {
				var rec recordtest.Recorder
				var p any
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { p = recover() }()
					call(nib.NewSink(&rec))
				}()
				<-done
				got := rec.Find("client rpc")
				if rec.Len() != 1 || got["level"] != "error" || got["code"] != tt.code || got["panic"] != tt.panicText || got["aborted"] != tt.aborted {
					t.Errorf("got lines %q, want one with code %s and panic %v", rec.Lines(), tt.code, tt.panicText)
				}
				if p != tt.goesOn {
					t.Errorf("the panic %v left the interceptor, want %v", p, tt.goesOn)
				}
			})
		}
	}
}

// An inner interceptor may open a stream and then panic: the RPC has one event.
func TestAnRPCThatHasEndedTwiceHasOneEvent(t *testing.T) {
	var rec recordtest.Recorder
	defer func() {
		if p := recover(); p != "boom" || rec.Len() != 1 || rec.Find("client rpc")["code"] != "OK" {
			t.Errorf("recovered %v, got %q", p, rec.Lines())
		}
	}()
	_, _ = nibgrpc.StreamClient(nib.NewSink(&rec), nibgrpc.Config{})(t.Context(), &grpc.StreamDesc{}, nil, "/a/b",
		func(_ context.Context, _ *grpc.StreamDesc, _ *grpc.ClientConn, _ string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			opts[0].(grpc.OnFinishCallOption).OnFinish(nil)
			panic("boom")
		})
}
