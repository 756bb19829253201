// SPDX-License-Identifier: Apache-2.0

package nibgrpc_test

import (
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/request"
	"google.golang.org/grpc"
	"google.golang.org/grpc/grpclog"
)

func Example() {
	log := nib.New(os.Stderr)
	grpclog.SetLoggerV2(nibgrpc.NewLoggerV2(log.Named("grpc"), 0))

	policy := request.New(request.Config{Slow: time.Second, Sample: 20})
	config := nibgrpc.Config{Policy: policy}
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(nibgrpc.UnaryServer(log, config)),
		grpc.ChainStreamInterceptor(nibgrpc.StreamServer(log, config)),
	)
	defer server.Stop()
}
