// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
	"github.com/rs/zerolog"
)

type order struct {
	ID    string
	Items int
}

func (o order) MarshalZerologObject(e *zerolog.Event) { e.Str("id", o.ID).Int("items", o.Items) }
func (o order) MarshalNib(e *nib.Event)               { e.Str("id", o.ID).Int("items", o.Items) }

var (
	errDown = errors.New("down")
	ip      = net.IPv4(10, 0, 0, 1)
	placed  = order{"a1", 3}
)

var zerologShapes = []shape[zerolog.Logger, *nib.Logger]{
	{"fields",
		func(log zerolog.Logger) {
			log.Info().Str("user", "ann").Int("items", 3).Bool("paid", true).Msg("order placed")
		},
		func(log *nib.Logger) {
			log.Info().Str("user", "ann").Int("items", 3).Bool("paid", true).Msg("order placed")
		}, ""},
	{"an error",
		func(log zerolog.Logger) { log.Error().Err(errDown).Msg("failed") },
		func(log *nib.Logger) { log.Error().Err(errDown).Msg("failed") }, ""},
	{"durations and addresses",
		func(log zerolog.Logger) {
			log.Info().Dur("took", 1500*time.Microsecond).IPAddr("peer", ip).Msg("served")
		},
		func(log *nib.Logger) {
			log.Info().Dur("took", 1500*time.Microsecond).IPAddr("peer", ip).Msg("served")
		}, ""},
	{"slices",
		func(log zerolog.Logger) { log.Info().Strs("tags", []string{"a", "b"}).Ints("n", []int{1, 2}).Send() },
		func(log *nib.Logger) { log.Info().Strs("tags", []string{"a", "b"}).Ints("n", []int{1, 2}).Send() },
		""},
	{"bound fields",
		func(log zerolog.Logger) {
			db := log.With().Str("component", "db").Logger()
			db.Info().Msg("connected")
		},
		func(log *nib.Logger) {
			db := log.With(func(e *nib.Event) { e.Str("component", "db") })
			db.Info().Msg("connected")
		}, ""},
	{"an object within",
		func(log zerolog.Logger) {
			log.Info().Dict("user", zerolog.Dict().Str("name", "ann").Int("age", 30)).Msg("seen")
		},
		func(log *nib.Logger) {
			log.Info().Dict("user", func(e *nib.Event) { e.Str("name", "ann").Int("age", 30) }).Msg("seen")
		}, ""},
	{"an array",
		func(log zerolog.Logger) {
			log.Info().Array("parts", zerolog.Arr().Str("a").Int(2)).Msg("seen")
		},
		func(log *nib.Logger) {
			log.Info().Array("parts", func(a *nib.Array) { a.Str("a").Int(2) }).Msg("seen")
		}, ""},
	{"a type that encodes itself: MarshalZerologObject becomes MarshalNib",
		func(log zerolog.Logger) { log.Info().Object("order", placed).Msg("placed") },
		func(log *nib.Logger) { log.Info().Object("order", placed).Msg("placed") }, ""},
	{"any value",
		func(log zerolog.Logger) { log.Info().Interface("limits", map[string]int{"cpu": 2}).Msg("started") },
		func(log *nib.Logger) {
			nib.Val(log.Info(), "limits", map[string]int{"cpu": 2}).Msg("started") // Any does it, too, and allocates
		}, ""},
	{"a level for a part of the program",
		func(log zerolog.Logger) {
			quiet := log.Level(zerolog.WarnLevel)
			quiet.Info().Msg("left out")
			quiet.Warn().Msg("kept")
		},
		func(log *nib.Logger) {
			quiet := log.WithOptions(nib.WithLevel(nib.LevelWarn))
			quiet.Info().Msg("left out")
			quiet.Warn().Msg("kept")
		}, ""},
	{"a level that is known at run time only",
		func(log zerolog.Logger) { log.WithLevel(zerolog.WarnLevel).Msg("slow") },
		func(log *nib.Logger) { log.At(nib.LevelWarn).Msg("slow") }, ""},
	{"a line without a level",
		func(log zerolog.Logger) { log.Log().Str("k", "v").Msg("plain") },
		func(log *nib.Logger) { log.Log().Str("k", "v").Msg("plain") }, ""},
	{"expensive fields",
		func(log zerolog.Logger) {
			if e := log.Info(); e.Enabled() {
				e.Str("dump", dump()).Msg("state")
			}
		},
		func(log *nib.Logger) {
			if e := log.Info(); e.Enabled() {
				e.Str("dump", dump()).Msg("state")
			}
		}, ""},
	{"a logger in a context",
		func(log zerolog.Logger) {
			ctx := log.WithContext(context.Background())
			zerolog.Ctx(ctx).Info().Msg("in a request")
		},
		func(log *nib.Logger) {
			ctx := nib.NewContext(context.Background(), log)
			nib.FromContext(ctx).Info().Msg("in a request")
		}, ""},
	{"printf",
		func(log zerolog.Logger) { log.Info().Msgf("%d of %d", 1, 2) },
		func(log *nib.Logger) { log.Info().Msgf("%d of %d", 1, 2) }, ""},
}

func dump() string { return "all is well" }

func TestZerolog(t *testing.T) {
	testShapes(t, zerologShapes,
		func(b *bytes.Buffer) zerolog.Logger { return zerolog.New(b).With().Timestamp().Logger() },
		func(b *bytes.Buffer) *nib.Logger { return nib.New(b, nib.WithLayout(layout.Zerolog())) }, "time")
	testGuide(t, "migrating-from-zerolog.md", "zerolog_test.go", "zerologShapes", "zerolog")
}
