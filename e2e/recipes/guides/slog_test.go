// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/nibslog"
)

// swapShapes keep their calls: only the handler is another one.
var swapShapes = []shape[*slog.Logger, *slog.Logger]{
	{"fields", func(log *slog.Logger) { log.Info("order placed", "user", "ann", "items", 3) }, func(log *slog.Logger) { log.Info("order placed", "user", "ann", "items", 3) }, ""},
	{"groups", func(log *slog.Logger) { log.WithGroup("db").With("host", "a").Info("seen", slog.Group("q", "n", 1)) }, func(log *slog.Logger) { log.WithGroup("db").With("host", "a").Info("seen", slog.Group("q", "n", 1)) }, ""},
	{"errors and durations", func(log *slog.Logger) { log.Error("failed", "err", errDown, "took", time.Second) }, func(log *slog.Logger) { log.Error("failed", "err", errDown, "took", time.Second) }, ""},
}

var slogShapes = []shape[*slog.Logger, *nib.Logger]{
	{"fields",
		func(log *slog.Logger) { log.Info("order placed", "user", "ann", "items", 3) },
		func(log *nib.Logger) { log.Info().Str("user", "ann").Int("items", 3).Msg("order placed") }, ""},
	{"attributes",
		func(log *slog.Logger) {
			log.LogAttrs(context.Background(), slog.LevelInfo, "served", slog.Int("status", 200))
		},
		func(log *nib.Logger) {
			log.LogAttrs(context.Background(), nib.LevelInfo, "served", slog.Int("status", 200))
		}, ""},
	{"bound fields",
		func(log *slog.Logger) {
			db := log.With("component", "db")
			db.Info("connected")
		},
		func(log *nib.Logger) {
			db := log.With(func(e *nib.Event) { e.Str("component", "db") })
			db.Info().Msg("connected")
		}, ""},
	{"a group",
		func(log *slog.Logger) { log.Info("seen", slog.Group("user", "name", "ann", "age", 30)) },
		func(log *nib.Logger) {
			log.Info().Dict("user", func(e *nib.Event) { e.Str("name", "ann").Int("age", 30) }).Msg("seen")
		}, ""},
	{"a group around what follows",
		func(log *slog.Logger) { log.WithGroup("db").Info("connected", "host", "a") },
		func(log *nib.Logger) { log.WithGroup("db").Info().Str("host", "a").Msg("connected") }, ""},
	{"an error",
		func(log *slog.Logger) { log.Error("failed", "error", errDown) },
		func(log *nib.Logger) { log.Error().Err(errDown).Msg("failed") }, ""},
	{"any value",
		func(log *slog.Logger) { log.Info("started", "limits", map[string]int{"cpu": 2}) },
		func(log *nib.Logger) {
			nib.Val(log.Info(), "limits", map[string]int{"cpu": 2}).Msg("started") // Any does it, too, and allocates
		}, ""},
	{"is it enabled?",
		func(log *slog.Logger) {
			if log.Enabled(context.Background(), slog.LevelInfo) {
				log.Info("state", "dump", dump())
			}
		},
		func(log *nib.Logger) {
			if e := log.Info(); e.Enabled() {
				e.Str("dump", dump()).Msg("state")
			}
		}, ""},
}

func newSlog(b *bytes.Buffer) *slog.Logger { return slog.New(slog.NewJSONHandler(b, nil)) }

func TestSlog(t *testing.T) {
	testShapes(t, swapShapes, newSlog,
		func(b *bytes.Buffer) *slog.Logger { return slog.New(nibslog.NewJSONHandler(b, nil)) }, "time")
	testShapes(t, slogShapes, newSlog,
		func(b *bytes.Buffer) *nib.Logger { return nib.New(b, nib.WithLayout(layout.Slog())) }, "time")
	testGuide(t, "migrating-from-slog.md", "slog_test.go", "slogShapes", "slog")
}
