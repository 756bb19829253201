// SPDX-License-Identifier: Apache-2.0

// Package slogjson logs with log/slog and its JSON handler as programs do. It
// is what allocs is judged by on log/slog: its sites are below these calls.
package slogjson

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"
)

// Values that the compiler does not know.
var (
	ctx     = context.Background()
	user    = "ada"
	count   = 1234
	ratio   = 0.75
	took    = 1500 * time.Microsecond
	at      = time.Unix(1700000000, 0)
	failure = errors.New("no such host")
	tags    = []string{"a", "b"}
	point   = struct{ X, Y int }{1, 2}
	secret  = token("x")
)

// token is a value that has its own form in logs.
type token string

// LogValue hides the token.
func (token) LogValue() slog.Value { return slog.StringValue("***") }

var (
	logger   = slog.New(slog.NewJSONHandler(io.Discard, nil))
	bound    = logger.With("service", "api", slog.Int("shard", 3))
	grouped  = logger.WithGroup("request").With("id", 7)
	sourced  = slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{AddSource: true}))
	replaced = slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			return slog.Attr{}
		}
		return a
	}}))
	file, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	toFile  = slog.New(slog.NewJSONHandler(file, nil))
)

// Message logs a constant.
func Message() { logger.Info("ready") }

// Pairs logs keys and values.
func Pairs() { logger.Info("user", "name", user, "count", count) }

// Attrs logs attributes through Info.
func Attrs() { logger.Info("user", slog.String("name", user), slog.Int("count", count)) }

// LogAttrs logs attributes as they are.
func LogAttrs() {
	logger.LogAttrs(ctx, slog.LevelInfo, "user", slog.String("name", user), slog.Int("count", count), slog.Duration("took", took))
}

// SixAttrs logs one more than a record has room for.
func SixAttrs() {
	logger.LogAttrs(ctx, slog.LevelInfo, "user", slog.String("a", user), slog.Int("b", count), slog.Duration("c", took),
		slog.Float64("d", ratio), slog.Time("e", at), slog.Bool("f", true))
}

// Disabled logs below the level.
func Disabled() { logger.Debug("user", "name", user, "count", count) }

// DisabledAttrs logs below the level with LogAttrs.
func DisabledAttrs() { logger.LogAttrs(ctx, slog.LevelDebug, "user", slog.Int("count", count)) }

// Bound logs with attributes that were formatted before.
func Bound() { bound.Info("user", "name", user) }

// Grouped logs into a group.
func Grouped() { grouped.LogAttrs(ctx, slog.LevelInfo, "user", slog.String("name", user)) }

// Group logs a group.
func Group() {
	logger.LogAttrs(ctx, slog.LevelInfo, "user", slog.Group("who", slog.String("name", user), slog.Int("count", count)))
}

// Error logs an error.
func Error() { logger.Error("failed", "err", failure) }

// AnyError logs an error as an attribute.
func AnyError() { logger.LogAttrs(ctx, slog.LevelError, "failed", slog.Any("err", failure)) }

// AnySlice logs what only encoding/json knows how to write.
func AnySlice() { logger.LogAttrs(ctx, slog.LevelInfo, "tags", slog.Any("tags", tags)) }

// AnyStruct logs a struct.
func AnyStruct() { logger.Info("moved", "to", point) }

// Valuer logs a value with its own form.
func Valuer() { logger.LogAttrs(ctx, slog.LevelInfo, "login", slog.Any("token", secret)) }

// Source logs with the position of the call.
func Source() { sourced.LogAttrs(ctx, slog.LevelInfo, "user", slog.Int("count", count)) }

// Replaced logs through a function that drops the time.
func Replaced() { replaced.LogAttrs(ctx, slog.LevelInfo, "user", slog.Int("count", count)) }

// With binds attributes for each call.
func With() {
	l := logger.With("name", user)
	l.Info("one")
}

// WithGroup opens a group for each call.
func WithGroup() {
	l := logger.WithGroup("g")
	l.LogAttrs(ctx, slog.LevelInfo, "one", slog.Int("count", count))
}

// Times logs a time and a duration.
func Times() {
	logger.LogAttrs(ctx, slog.LevelInfo, "t", slog.Time("at", at), slog.Duration("took", took))
}

// Guarded asks for the level first.
func Guarded() {
	if logger.Enabled(ctx, slog.LevelDebug) {
		logger.Debug("user", "name", user)
	}
}

// File logs to a file.
func File() { toFile.LogAttrs(ctx, slog.LevelInfo, "user", slog.Int("count", count)) }
