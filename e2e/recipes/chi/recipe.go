// SPDX-License-Identifier: Apache-2.0

package chi

import (
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
)

func Handler(log *nib.Logger) http.Handler {
	r := chi.NewRouter()
	r.Use(nibhttp.Middleware(log)) // replaces middleware.Logger and RequestID
	r.Get("/orders/{id}", order)
	return r
}

func order(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	request.AddAttrs(ctx, slog.String("order", chi.URLParam(r, "id")))
	nib.FromContext(ctx).Info().Msg("looking")
	if chi.URLParam(r, "id") == "0" {
		http.Error(w, "no such shard", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("tea"))
}
