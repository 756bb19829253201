// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/examples/shop/stockpb"
	"github.com/nib-log/nib/request"
)

// A stock is the gRPC service.
type stock struct {
	stockpb.UnimplementedStockServer
	db *store
}

// Reserve implements stockpb.StockServer.
func (s *stock) Reserve(
	ctx context.Context, r *stockpb.ReserveRequest,
) (*stockpb.ReserveResponse, error) {
	log := nib.FromContext(ctx)
	log.Debug().Str("item", r.Item).Int64("n", r.N).Msg("reserving")
	left, err := s.db.reserve(ctx, r.Item, r.N)
	switch {
	case errors.Is(err, errSoldOut):
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	case err != nil: // the client does not see the cause, the event of the RPC has it
		request.Add(ctx, func(e *nib.Event) { e.AnErr("cause", err) })
		return nil, status.Error(codes.Unavailable, "try again later")
	}
	log.Info().Str("item", r.Item).Int64("left", left).Msg("reserved")
	return &stockpb.ReserveResponse{Left: left}, nil
}
