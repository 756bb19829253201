// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibslog"
)

func TestALineDoesNotAllocate(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must.Succeed(t, err)
	defer file.Close()
	ctx := context.Background()
	now := time.Now()
	for _, tt := range []struct {
		name string
		h    slog.Handler
	}{
		{"NewJSONHandler, io.Discard", nibslog.NewJSONHandler(io.Discard, nil)},
		{"NewJSONHandler, a file", nibslog.NewJSONHandler(file, nil)},
		{"NewJSONHandler, AddSource", nibslog.NewJSONHandler(io.Discard, &slog.HandlerOptions{AddSource: true})},
		{"NewHandler", nibslog.NewHandler(nib.New(io.Discard))},
		{"bound attributes and a group", nibslog.NewJSONHandler(io.Discard, nil).WithAttrs([]slog.Attr{slog.Int("a", 1)}).WithGroup("g")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := slog.New(tt.h)
			alloctest.Zero(t, func() {
				l.LogAttrs(ctx, slog.LevelInfo, "request handled",
					slog.String("method", "GET"), slog.Int("status", 200), slog.Duration("took", 1234567),
					slog.Bool("cached", true), slog.Float64("load", 0.75))
			})
			alloctest.Zero(t, func() {
				l.LogAttrs(ctx, slog.LevelInfo, "request handled", slog.Time("at", now), slog.Uint64("n", 1))
			})
			alloctest.Zero(t, func() { l.LogAttrs(ctx, slog.LevelInfo, "request handled") })
			alloctest.Zero(t, func() { l.LogAttrs(ctx, slog.LevelDebug, "off", slog.String("method", "GET")) })
		})
	}
}
