// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"bytes"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func (o order) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddString("id", o.ID)
	e.AddInt("items", o.Items)
	return nil
}

var zapShapes = []shape[*zap.Logger, *nib.Logger]{
	{"fields",
		func(log *zap.Logger) {
			log.Info("order placed", zap.String("user", "ann"), zap.Int("items", 3), zap.Bool("paid", true))
		},
		func(log *nib.Logger) {
			log.Info().Str("user", "ann").Int("items", 3).Bool("paid", true).Msg("order placed")
		}, ""},
	{"sugared",
		func(log *zap.Logger) { log.Sugar().Infow("order placed", "user", "ann", "items", 3) },
		func(log *nib.Logger) { log.Info().Str("user", "ann").Int("items", 3).Msg("order placed") }, ""},
	{"printf",
		func(log *zap.Logger) { log.Sugar().Infof("%d of %d", 1, 2) },
		func(log *nib.Logger) { log.Info().Msgf("%d of %d", 1, 2) }, ""},
	{"an error",
		func(log *zap.Logger) { log.Error("failed", zap.Error(errDown)) },
		func(log *nib.Logger) { log.Error().Err(errDown).Msg("failed") }, ""},
	{"durations",
		func(log *zap.Logger) { log.Info("served", zap.Duration("took", 1500*time.Millisecond)) },
		func(log *nib.Logger) { log.Info().Dur("took", 1500*time.Millisecond).Msg("served") }, ""},
	{"slices",
		func(log *zap.Logger) { log.Info("seen", zap.Strings("tags", []string{"a", "b"})) },
		func(log *nib.Logger) { log.Info().Strs("tags", []string{"a", "b"}).Msg("seen") }, ""},
	{"bound fields",
		func(log *zap.Logger) {
			db := log.With(zap.String("component", "db"))
			db.Info("connected")
		},
		func(log *nib.Logger) {
			db := log.With(func(e *nib.Event) { e.Str("component", "db") })
			db.Info().Msg("connected")
		}, ""},
	{"a name",
		func(log *zap.Logger) { log.Named("db").Named("pool").Info("connected") },
		func(log *nib.Logger) { log.Named("db").Named("pool").Info().Msg("connected") }, ""},
	{"an object around what follows",
		func(log *zap.Logger) { log.Info("seen", zap.Namespace("user"), zap.String("name", "ann")) },
		func(log *nib.Logger) {
			log.Info().Dict("user", func(e *nib.Event) { e.Str("name", "ann") }).Msg("seen")
		}, ""},
	{"a type that encodes itself: MarshalLogObject becomes MarshalNib",
		func(log *zap.Logger) { log.Info("placed", zap.Object("order", placed)) },
		func(log *nib.Logger) { log.Info().Object("order", placed).Msg("placed") }, ""},
	{"any value",
		func(log *zap.Logger) { log.Info("started", zap.Any("limits", map[string]int{"cpu": 2})) },
		func(log *nib.Logger) {
			nib.Val(log.Info(), "limits", map[string]int{"cpu": 2}).Msg("started") // Any does it, too, and allocates
		}, ""},
	{"expensive fields",
		func(log *zap.Logger) {
			if e := log.Check(zap.InfoLevel, "state"); e != nil {
				e.Write(zap.String("dump", dump()))
			}
		},
		func(log *nib.Logger) {
			if e := log.Info(); e.Enabled() {
				e.Str("dump", dump()).Msg("state")
			}
		}, ""},
	{"a higher level",
		func(log *zap.Logger) {
			quiet := log.WithOptions(zap.IncreaseLevel(zap.WarnLevel))
			quiet.Info("left out")
			quiet.Warn("kept")
		},
		func(log *nib.Logger) {
			quiet := log.WithOptions(nib.WithLevel(nib.LevelWarn))
			quiet.Info().Msg("left out")
			quiet.Warn().Msg("kept")
		}, ""},
}

func TestZap(t *testing.T) {
	testShapes(t, zapShapes,
		func(b *bytes.Buffer) *zap.Logger {
			encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
			return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(b), zap.DebugLevel))
		},
		func(b *bytes.Buffer) *nib.Logger { return nib.New(b, nib.WithLayout(layout.Zap())) }, "ts")
	testGuide(t, "migrating-from-zap.md", "zap_test.go", "zapShapes", "zap")
}
