// SPDX-License-Identifier: Apache-2.0

package a

import (
	"context"
	"log/slog"
	"time"
)

type named int

func f(ctx context.Context, l *slog.Logger, n int, s string, d time.Duration, p *int, x named, kv []any) {
	l.Debug("m", "n", n, "s", s)                // want `arguments of Debug are boxed`
	l.InfoContext(ctx, "m", slog.Int("n", n))   // want `arguments of InfoContext are boxed`
	slog.Warn("m", "d", d, slog.String("s", s)) // want `arguments of Warn are boxed`
	l.Error("m", "x", x)                        // want `arguments of Error are boxed`
	l.Debug("m", s, n)                          // want `arguments of Debug are boxed`
	l.Debug("m", "k", "constant")
	l.Debug("m", "p", p)
	l.Debug("m", kv...)
	l.LogAttrs(ctx, slog.LevelDebug, "m", slog.Int("n", n))
}
