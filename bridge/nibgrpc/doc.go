// SPDX-License-Identifier: Apache-2.0

// Package nibgrpc has interceptors for google.golang.org/grpc that write one
// event for each RPC, with its ids and the fields that its handler adds, and a
// logger for gRPC itself.
//
//	func main() {
//		log := nib.New(os.Stdout)
//		grpclog.SetLoggerV2(nibgrpc.NewLoggerV2(log.Named("grpc"), 0))
//
//		policy := request.New(request.Config{Slow: time.Second, Sample: 20})
//		config := nibgrpc.Config{Policy: policy}
//		server := grpc.NewServer(
//			grpc.ChainUnaryInterceptor(nibgrpc.UnaryServer(log, config)),
//			grpc.ChainStreamInterceptor(nibgrpc.StreamServer(log, config)),
//		)
//		listener, err := net.Listen("tcp", "127.0.0.1:50051")
//		if err != nil {
//			log.Fatal().Err(err).Msg("cannot listen")
//		}
//		if err := server.Serve(listener); err != nil {
//			log.Fatal().Err(err).Msg("cannot serve")
//		}
//	}
//
// In a handler, and in each function below it that has the context,
// nib.FromContext(ctx) is a logger with the ids of the RPC, and request.Add
// adds fields to its event; see package request. The event has, in this order:
//
//	rpc         service and method, as in pkg.Service/Method
//	code        of the status: OK, NotFound, …
//	took        from the start of the handler to its end
//	received, sent  number of messages of a stream
//	peer        address of the client
//	request_id  from the metadata x-request-id, or made up
//	trace_id, span_id  from the metadata traceparent, or those that nib.WithContextFields adds
//	canceled    true when the context of the RPC was cancelled before it had ended
//	aborted     true when the handler panicked or ended its goroutine
//	panic       text of the panic value of the handler, with the stack after it
//	error       of the handler; of a status, its message
//
// The fields of package request follow these. A panic continues: gRPC does not
// recover from it, but an outer interceptor may.
//
// The interceptors for clients write the same for RPCs that the program makes,
// with the message "client rpc", and pass on x-request-id and traceparent of
// the request that makes them, unless the metadata has them already. There an
// inner interceptor or a codec takes the place of the handler.
package nibgrpc
