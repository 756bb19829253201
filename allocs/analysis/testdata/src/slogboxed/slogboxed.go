// SPDX-License-Identifier: Apache-2.0

package slogboxed

import (
	"context"
	"log/slog"
	"time"
)

type named int

func f(ctx context.Context, l *slog.Logger, n int, s string, d time.Duration, p *int, x named, kv []any, t *time.Time) {
	l.Debug("m", "n", n, "s", s)                 // want `arguments of Debug are boxed`
	l.DebugContext(ctx, "m", slog.Int("n", n))   // want `arguments of DebugContext are boxed`
	slog.Debug("m", "d", d, slog.String("s", s)) // want `arguments of Debug are boxed`
	l.Debug("m", "n", n, "t", t)                 // want `arguments of Debug are boxed`
	l.Debug("m", "x", x)                         // want `arguments of Debug are boxed`
	l.Debug("m", s, n)                           // want `arguments of Debug are boxed`
	l.Debug("m", "k", "constant")
	l.Debug("m", "p", p)
	l.Debug("m", kv...)
	l.LogAttrs(ctx, slog.LevelDebug, "m", slog.Int("n", n))
	l.Info("m", "n", n) // on, mostly
}

//alloc:none
func hot(l *slog.Logger, n int) {
	l.Info("m", "n", n) // want `arguments of Info are boxed`
}

func guarded(ctx context.Context, l *slog.Logger, n int) {
	if l.Enabled(ctx, slog.LevelDebug) {
		l.Debug("m", "n", n)
	}
	if !l.Enabled(ctx, slog.LevelDebug) {
		return
	}
	l.Debug("m", "n", n)
}

func shadowed(l *slog.Logger, context, n int) {
	l.Debug("m", "n", n) // want `arguments of Debug are boxed`
}
