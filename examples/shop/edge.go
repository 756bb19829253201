// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/examples/shop/payment"
	"github.com/nib-log/nib/examples/shop/stockpb"
	"github.com/nib-log/nib/examples/shop/tax"
	"github.com/nib-log/nib/request"
)

// routes returns the handler of the edge, which calls the gRPC service.
func routes(stock stockpb.StockClient) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{item}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.ParseInt(r.FormValue("n"), 10, 32)
		if err != nil || n < 1 {
			http.Error(w, "n is not a number above 0", http.StatusBadRequest)
			return
		}
		left, err := order(r.Context(), stock, r.PathValue("item"), n)
		if err != nil {
			request.Add(r.Context(), func(e *nib.Event) { e.Err(err) })
			http.Error(w, status.Convert(err).Message(), httpStatus(err))
			return
		}
		fmt.Fprintln(w, "left:", left)
	})
	return mux
}

const centsEach = 250

// order orders n of an item and returns the number left.
func order(
	ctx context.Context, stock stockpb.StockClient, item string, n int64,
) (left int64, err error) {
	// Shown in the event of the request.
	request.AddAttrs(ctx, slog.String("item", item), slog.Int64("n", n))
	nib.FromContext(ctx).Debug().Str("item", item).Msg("order received")

	cents := tax.Gross(withLogr(ctx), "DE", n*centsEach)
	if err := payment.New(zapLogger(ctx)).Authorize(cents); err != nil {
		return 0, err
	}
	response, err := stock.Reserve(ctx, &stockpb.ReserveRequest{Item: item, N: n})
	return response.GetLeft(), err
}

// httpStatus returns the status for an error of order.
func httpStatus(err error) int {
	switch {
	case errors.Is(err, payment.ErrDeclined):
		return http.StatusPaymentRequired
	case status.Code(err) == codes.FailedPrecondition:
		return http.StatusConflict
	}
	return http.StatusServiceUnavailable
}
