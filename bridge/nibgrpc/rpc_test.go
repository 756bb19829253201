// SPDX-License-Identifier: Apache-2.0

package nibgrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// A service is the server of a test.
type service struct {
	pb.UnimplementedTestServiceServer
	unary  func(ctx context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error)
	stream func(s pb.TestService_FullDuplexCallServer) error
}

func (s *service) UnaryCall(ctx context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return s.unary(ctx, in)
}

func (s *service) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	return s.stream(stream)
}

// A rig is a server and a client on loopback, with the lines of each.
type rig struct {
	server, client recordtest.Recorder
	stub           pb.TestServiceClient
	stop           func() // waits for the handlers
}

// newRig starts both. outer is in front of the interceptor of the server.
func newRig(t *testing.T, s *service, c nibgrpc.Config, outer ...grpc.UnaryServerInterceptor) *rig {
	t.Helper()
	g := new(rig)
	log := nib.NewSink(&g.server, nib.WithLevel(nib.LevelInfo))
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(append(outer, nibgrpc.UnaryServer(log, c))...),
		grpc.ChainStreamInterceptor(nibgrpc.StreamServer(log, c)),
	)
	pb.RegisterTestServiceServer(server, s)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	go func() { _ = server.Serve(l) }()
	clientLog := nib.NewSink(&g.client)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainUnaryInterceptor(nibgrpc.UnaryClient(clientLog, nibgrpc.Config{})),
		grpc.WithChainStreamInterceptor(nibgrpc.StreamClient(clientLog, nibgrpc.Config{})))
	must.Succeed(t, err)
	g.stub = pb.NewTestServiceClient(conn)
	g.stop = sync.OnceFunc(func() { _ = conn.Close(); server.GracefulStop() })
	t.Cleanup(g.stop)
	return g
}

func reply(string) *pb.SimpleResponse { return &pb.SimpleResponse{} }

func TestEventOfAUnaryRPC(t *testing.T) {
	g := newRig(t, &service{unary: func(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		request.AddAttrs(ctx, slog.Int("items", 3))
		nib.FromContext(ctx).Info().Msg("inside")
		return reply(""), nil
	}}, nibgrpc.Config{})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "r1", "traceparent", traceparent)
	if _, err := g.stub.UnaryCall(ctx, &pb.SimpleRequest{}); err != nil {
		t.Fatal(err)
	}
	g.stop()
	got := g.server.Find("rpc")
	for k, want := range map[string]any{
		"level": "info", "rpc": "grpc.testing.TestService/UnaryCall", "code": "OK", "request_id": "r1", "items": 3.0,
		"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7", "error": nil, "received": nil,
	} {
		if got[k] != want {
			t.Errorf("%s: got %v, want %v", k, got[k], want)
		}
	}
	if p, _ := got["peer"].(string); !strings.HasPrefix(p, "127.0.0.1:") {
		t.Errorf("peer: got %v", got["peer"])
	}
	if inside := g.server.Find("inside"); inside["request_id"] != "r1" || inside["items"] != nil || g.server.Len() != 2 {
		t.Errorf("got %q", g.server.Lines())
	}
}

func TestCodesAndLevels(t *testing.T) {
	for _, tt := range []struct {
		err         error
		code, level string
	}{
		{nil, "OK", "info"},
		{status.Error(codes.NotFound, "none"), "NotFound", "warn"},
		{status.Error(codes.Internal, "broken"), "Internal", "error"},
		{fmt.Errorf("wrapped: %w", status.Error(codes.NotFound, "none")), "NotFound", "warn"},
		{context.DeadlineExceeded, "DeadlineExceeded", "error"},
		{context.Canceled, "Canceled", "warn"},
		{errors.New("plain"), "Unknown", "error"},
	} {
		g := newRig(t, &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			return reply(""), tt.err
		}}, nibgrpc.Config{})
		_, err := g.stub.UnaryCall(t.Context(), &pb.SimpleRequest{})
		g.stop()
		if got := g.server.Find("rpc"); got["code"] != tt.code || got["level"] != tt.level || (got["error"] != nil) != (tt.err != nil) {
			t.Errorf("server, %v: got %v, want %s at %s", tt.err, got, tt.code, tt.level)
		}
		if got := g.client.Find("client rpc"); got["code"] != tt.code || status.Code(err).String() != tt.code || g.client.Len() != 1 {
			t.Errorf("client, %v: got %v, want %s", tt.err, got, tt.code)
		}
	}
}

func TestAPanicIsWrittenAndContinues(t *testing.T) {
	var recovered any
	g := newRig(t, &service{unary: func(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		request.AddAttrs(ctx, slog.Int("items", 3))
		panic("boom")
	}}, nibgrpc.Config{Skip: func(string) bool { return true }},
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
			defer func() {
				recovered = recover()
				err = status.Error(codes.Internal, "panic")
			}()
			return handler(ctx, req)
		})
	_, _ = g.stub.UnaryCall(t.Context(), &pb.SimpleRequest{})
	g.stop()
	got := g.server.Find("rpc")
	if recovered != "boom" || g.server.Len() != 1 || got["panic"] != "boom" || got["code"] != "Internal" ||
		got["level"] != "error" || got["aborted"] != true || got["items"] != 3.0 {
		t.Errorf("recovered %v, got %v", recovered, got)
	}
	if stack, _ := got["stack"].(string); !strings.HasPrefix(stack, "github.com/nib-log/nib/bridge/nibgrpc_test.TestAPanic") {
		t.Errorf("the stack does not begin with the function that panicked: %s", stack)
	}
}

// A brokenAddr is the address of a transport of the program.
type brokenAddr struct{}

func (brokenAddr) Network() string { return "broken" }
func (brokenAddr) String() string  { panic("in String") }

// Package fmt would follow a value that contains itself until the stack is
// full.
func TestValuesOfTheProgramDoNotEndTheProcess(t *testing.T) {
	var rec recordtest.Recorder
	loop := map[string]any{}
	loop["loop"] = loop
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: brokenAddr{}})
	func() {
		defer func() { _ = recover() }()
		_, _ = nibgrpc.UnaryServer(nib.NewSink(&rec), nibgrpc.Config{})(ctx, nil, &grpc.UnaryServerInfo{FullMethod: "/a/b"},
			func(context.Context, any) (any, error) { panic(loop) })
	}()
	got := rec.Find("rpc")
	if got["panic"] != "map[string]interface {}" || got["peer"] != "!PANIC: in String" || got["rpc"] != "a/b" {
		t.Errorf("got %v", got)
	}
}

// An endsGoroutine is an error whose Error method ends the goroutine.
type endsGoroutine struct{}

func (endsGoroutine) Error() string {
	runtime.Goexit()
	return ""
}

// TestEventIsWrittenIfUserCodeEndsTheGoroutine has functions that call
// runtime.Goexit after the handler has returned or panicked.
func TestEventIsWrittenIfUserCodeEndsTheGoroutine(t *testing.T) {
	answers := func(context.Context, any) (any, error) { return nil, nil }
	for _, tt := range []struct {
		name      string
		handler   grpc.UnaryHandler
		config    nibgrpc.Config
		code      string
		panicText any
		goesOn    any
	}{
		{"text of a panic", func(context.Context, any) (any, error) { panic(endsGoroutine{}) }, nibgrpc.Config{}, "Internal", "nibgrpc_test.endsGoroutine", endsGoroutine{}},
		{"Skip", answers, nibgrpc.Config{Skip: func(string) bool { runtime.Goexit(); return true }}, "OK", nil, nil},
		{"Level", answers, nibgrpc.Config{Level: func(codes.Code) nib.Level { runtime.Goexit(); return 0 }}, "OK", nil, nil},
		{"Level after a panic", func(context.Context, any) (any, error) { panic("boom") },
			nibgrpc.Config{Level: func(codes.Code) nib.Level { runtime.Goexit(); return 0 }}, "Internal", "boom", "boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rec recordtest.Recorder
			var p any
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { p = recover() }()
				_, _ = nibgrpc.UnaryServer(nib.NewSink(&rec), tt.config)(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/a/b"}, tt.handler)
			}()
			<-done
			got := rec.Find("rpc")
			if rec.Len() != 1 || got["code"] != tt.code || got["panic"] != tt.panicText {
				t.Errorf("got lines %q, want one with code %s and panic %v", rec.Lines(), tt.code, tt.panicText)
			}
			if p != tt.goesOn {
				t.Errorf("the panic %T left the interceptor, want %T", p, tt.goesOn)
			}
		})
	}
}

// echo sends messages of one stream, and receives an answer to each.
func echo(t *testing.T, stub pb.TestServiceClient, id string, messages int) {
	s, err := stub.FullDuplexCall(metadata.AppendToOutgoingContext(t.Context(), "x-request-id", id))
	if err != nil {
		t.Error(err)
		return
	}
	for range messages {
		if err := s.Send(&pb.StreamingOutputCallRequest{Payload: &pb.Payload{Body: []byte(id)}}); err != nil {
			t.Error(err)
		}
		if _, err := s.Recv(); err != nil {
			t.Error(err)
		}
	}
	_ = s.CloseSend()
	if _, err := s.Recv(); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
}

// Middleware that keeps the fields of a stream in its context shows fields of
// one message in the line of another (go-grpc-middleware#319, #487).
func TestFieldsOfOneMessageAreNotInLinesOfAnother(t *testing.T) {
	const streams, messages = 64, 50
	policy := request.New(request.Config{})
	g := newRig(t, &service{stream: func(s pb.TestService_FullDuplexCallServer) error {
		for n := 0; ; n++ {
			in, err := s.Recv()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			id := string(in.GetPayload().GetBody())
			nib.FromContext(s.Context()).Info().Str("stream", id).Int("n", n).Msg("message")
			go nib.FromContext(s.Context()).Info().Str("stream", id).Msg("goroutine")
			if n == 0 {
				request.AddAttrs(s.Context(), slog.String("stream", id))
			}
			if err := s.Send(&pb.StreamingOutputCallResponse{Payload: in.GetPayload()}); err != nil {
				return err
			}
		}
	}}, nibgrpc.Config{Policy: policy})
	await.Goroutines(streams, func(i int) {
		echo(t, g.stub, fmt.Sprintf("s%d", i), messages)
	})
	g.stop()
	for _, msg := range []string{"message", "goroutine", "rpc"} {
		for _, f := range g.server.FindAll(msg) {
			if f["stream"] != f["request_id"] || msg == "message" && strings.Count(fmt.Sprint(f), "stream:") != 1 {
				t.Fatalf("got %v, want the stream of the request id", f)
			}
		}
	}
	if n, events := len(g.server.FindAll("message")), g.server.FindAll("rpc"); n != streams*messages || len(events) != streams ||
		events[0]["received"] != float64(messages) || events[0]["sent"] != float64(messages) {
		t.Errorf("got %d lines and %d events, the first %v", n, len(events), events[0])
	}
	client := g.client.FindAll("client rpc")
	if len(client) != streams || client[0]["code"] != "OK" || client[0]["sent"] != float64(messages) || client[0]["received"] != float64(messages) {
		t.Errorf("got %d events of the client, the first %v", len(client), client[0])
	}
	if s := policy.Stats(); s.Written != streams {
		t.Errorf("got %+v", s)
	}
}

// A stream that the client abandons before its end has its events, too.
func TestAStreamThatTheClientLeaves(t *testing.T) {
	started := make(chan struct{})
	g := newRig(t, &service{stream: func(s pb.TestService_FullDuplexCallServer) error {
		close(started)
		<-s.Context().Done()
		return s.Context().Err()
	}}, nibgrpc.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := g.stub.FullDuplexCall(ctx)
	must.Succeed(t, err)
	<-started
	cancel()
	_, _ = s.Recv()
	g.stop()
	await.Until(t, "gRPC has called OnFinish, on a goroutine of its own", func() bool { return g.client.Len() > 0 })
	if got := g.server.Find("rpc"); g.server.Len() != 1 || got["code"] != "Canceled" || got["canceled"] != true {
		t.Errorf("server: got %q", g.server.Lines())
	}
	if got := g.client.Find("client rpc"); g.client.Len() != 1 || got["code"] != "Canceled" || got["canceled"] != true {
		t.Errorf("client: got %q", g.client.Lines())
	}
}

func TestIDsAreSentToOtherServices(t *testing.T) {
	g := newRig(t, &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) { return reply(""), nil }}, nibgrpc.Config{})
	var r request.Request
	r.Start(t.Context(), nil, nil, "edge-1", traceparent)
	for _, ctx := range []context.Context{&r, metadata.AppendToOutgoingContext(&r, "x-request-id", "own")} {
		if _, err := g.stub.UnaryCall(ctx, &pb.SimpleRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	g.stop()
	got := g.server.FindAll("rpc")
	if got[0]["request_id"] != "edge-1" || got[0]["trace_id"] != "4bf92f3577b34da6a3ce929d0e0e4736" || got[1]["request_id"] != "own" {
		t.Errorf("got %v", got)
	}
	if c := g.client.FindAll("client rpc"); len(c) != 2 || c[0]["request_id"] != "edge-1" || c[1]["request_id"] != "own" {
		t.Errorf("client: got %v", c)
	}
}

func TestOwnRequestIDs(t *testing.T) {
	g := newRig(t, &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) { return reply(""), nil }},
		nibgrpc.Config{OwnRequestIDs: true})
	_, _ = g.stub.UnaryCall(metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "theirs"), &pb.SimpleRequest{})
	g.stop()
	if id, _ := g.server.Find("rpc")["request_id"].(string); len(id) != 32 {
		t.Errorf("got %q, want an id that is made up", id)
	}
}

func TestSkipAndLevel(t *testing.T) {
	ok := &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) { return reply(""), nil }}
	for name, tt := range map[string]struct {
		config nibgrpc.Config
		want   int
	}{
		"skip":           {nibgrpc.Config{Skip: func(m string) bool { return strings.HasSuffix(m, "/UnaryCall") }}, 0},
		"skip panics":    {nibgrpc.Config{Skip: func(string) bool { panic("x") }}, 1},
		"level is off":   {nibgrpc.Config{Level: func(codes.Code) nib.Level { return nib.LevelDebug }}, 0},
		"level panics":   {nibgrpc.Config{Level: func(codes.Code) nib.Level { panic("x") }}, 1},
		"neither is set": {nibgrpc.Config{}, 1},
	} {
		g := newRig(t, ok, tt.config)
		if _, err := g.stub.UnaryCall(t.Context(), &pb.SimpleRequest{}); err != nil {
			t.Fatal(err)
		}
		g.stop()
		if got := len(g.server.FindAll("rpc")); got != tt.want {
			t.Errorf("%s: got %d events, want %d", name, got, tt.want)
		}
	}
}

func TestDebugLinesOfFailedRPCs(t *testing.T) {
	var out recordtest.Recorder
	bt := sink.Backtrace(&out, sink.BacktraceConfig{})
	g := newRig(t, &service{unary: func(ctx context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		nib.FromContext(ctx).Debug().Bool("fails", in.GetFillUsername()).Msg("step")
		if in.GetFillUsername() {
			return nil, status.Error(codes.Unavailable, "down")
		}
		return reply(""), nil
	}}, nibgrpc.Config{Policy: request.New(request.Config{Backtrace: bt, Slow: time.Hour})})
	for _, fails := range []bool{false, true} {
		_, _ = g.stub.UnaryCall(t.Context(), &pb.SimpleRequest{FillUsername: fails})
	}
	g.stop()
	if got := out.FindAll("step"); len(got) != 1 || got[0]["fails"] != true {
		t.Errorf("got %v, want the line of the RPC that failed", got)
	}
}

func TestLongErrorsAreCut(t *testing.T) {
	g := newRig(t, &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		return nil, errors.New(strings.Repeat("ä", 1<<14))
	}}, nibgrpc.Config{})
	_, _ = g.stub.UnaryCall(t.Context(), &pb.SimpleRequest{}, grpc.MaxCallRecvMsgSize(1<<20))
	g.stop()
	if got, _ := g.server.Find("rpc")["error"].(string); len(got) < 4000 || len(got) > 4200 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("got an error of %d bytes", len(got))
	}
}

func TestErrorOfAnEventDoesNotRepeatTheCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want any
	}{
		{status.Error(codes.NotFound, "no such item"), "no such item"},
		{status.Error(codes.NotFound, ""), "rpc error: code = NotFound desc = "},
		{fmt.Errorf("lookup: %w", status.Error(codes.NotFound, "gone")), "lookup: rpc error: code = NotFound desc = gone"},
		{errors.New("plain"), "plain"},
	} {
		var rec recordtest.Recorder
		_, _ = nibgrpc.UnaryServer(nib.NewSink(&rec), nibgrpc.Config{})(t.Context(), nil, &grpc.UnaryServerInfo{},
			func(context.Context, any) (any, error) { return nil, tt.err })
		if got := rec.Find("rpc")["error"]; got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.err, got, tt.want)
		}
	}
}
