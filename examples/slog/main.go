// SPDX-License-Identifier: Apache-2.0

// Command slog shows nib behind log/slog: only the line that makes the handler
// changes.
package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/nib-log/nib/nibslog"
)

func main() { run(os.Stdout, nil) }

// run writes all output of the program to w.
func run(w io.Writer, opts *slog.HandlerOptions) {
	log := slog.New(nibslog.NewJSONHandler(w, opts)) // was: slog.NewJSONHandler(w, opts)

	log.Info("listening", "port", 8080)
	orders := log.With("service", "orders").WithGroup("order")
	placed(orders, 17, 12.5)
	orders.Error("payment failed", "id", 18, "err", errors.New("card declined"))
	log.Debug("off by default")
}

// placed uses LogAttrs, which slog offers for hot paths: it does not allocate.
func placed(log *slog.Logger, id int, total float64) {
	log.LogAttrs(context.Background(), slog.LevelInfo, "placed",
		slog.Int("id", id),
		slog.Float64("total", total),
		slog.String("currency", "EUR"),
		slog.Bool("gift", false),
		slog.Duration("took", 1500*time.Microsecond),
	)
}
