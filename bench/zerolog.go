// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"log/slog"
	"time"

	"github.com/rs/zerolog"
)

// zerolog runs with its defaults. Its time stays RFC 3339 in seconds: its
// global layout may be set to milliseconds, but then time.AppendFormat leaves
// its fast path, and the comparison would charge zerolog for a layout that is
// not set for speed.
//
// It has no row Attrs, because Fields takes untyped pairs, and no Buffered,
// because the diode writer drops lines when the pipe is slower than the
// callers.
var zerologPeer = Peer{
	Name: "zerolog", Module: "github.com/rs/zerolog", DurationUnit: time.Millisecond,
	Rows: map[string]Setup{
		"Disabled": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Debug().Str("method", method).Int("status", status).Dur("took", took).Msg(message)
			}
		}),
		"Message": Row(newZerolog, zerologMessage),
		"TenFields": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Info().
					Str("method", method).Str("path", path).Str("request", request).
					Int("status", status).Int64("size", size).Uint64("trace", trace).
					Bool("cached", cached).Float64("load", load).
					Dur("took", took).Time("started", started).
					Msg(message)
			}
		}),
		"Bound": Row(func(w io.Writer) zerolog.Logger {
			return newZerolog(w).With().
				Str("method", method).Str("path", path).Str("request", request).
				Int("status", status).Int64("size", size).Uint64("trace", trace).
				Bool("cached", cached).Float64("load", load).
				Dur("took", took).Time("started", started).
				Logger()
		}, zerologMessage),
		"Caller": Row(
			func(w io.Writer) zerolog.Logger { return newZerolog(w).With().Caller().Logger() },
			zerologMessage),
		"Error": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Error().Err(errRefused).Msg(message)
			}
		}),
		"Formatted": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Info().Msgf(format, path, status)
			}
		}),
		"StructValue": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Info().Any("account", customerAccount).Msg(message)
			}
		}),
		"ArrayDict": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				e := l.Info()
				e.Ints("shards", shards).
					Dict("peer", e.CreateDict().
						Str("method", method).Str("request", request).Int("status", status).
						Bool("cached", cached).Float64("load", load)).
					Msg(message)
			}
		}),
		"Unicode": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Info().Str("city", city).Str("customer", customer).Str("mood", mood).
					Msg(messageUnicode)
			}
		}),
		"Escapes": Row(newZerolog, func(l zerolog.Logger, n int) {
			for range n {
				l.Info().Str("conf", conf).Str("query", query).Str("terminal", terminal).
					Msg(messageEscapes)
			}
		}),
		"SlogFront": Row(func(w io.Writer) slog.Handler { // which writes the record's own time
			return zerolog.NewSlogHandler(zerolog.New(w).Level(zerolog.InfoLevel))
		}, slogFront),
		"Bare": Row(func(w io.Writer) zerolog.Logger { return zerolog.New(w) },
			func(l zerolog.Logger, n int) {
				for range n {
					l.Log().Msg(message)
				}
			}),
	},
	Service: func(w io.Writer) func(id uint64) {
		l := newZerolog(w)
		return func(id uint64) {
			l.Info().Uint64("id", id).Str("method", method).Str("path", path).
				Msg("request received")
			l.Info().Uint64("id", id).Str("key", request).Bool("hit", cached).
				Msg("session looked up")
			l.Info().Uint64("id", id).Int("rows", status).Dur("took", took).Msg("query done")
			l.Info().Uint64("id", id).Float64("load", load).Time("started", started).
				Msg("page rendered")
			l.Info().Uint64("id", id).Int("status", status).Int64("size", size).Dur("took", took).
				Msg(message)
		}
	},
}

func newZerolog(w io.Writer) zerolog.Logger {
	return zerolog.New(w).Level(zerolog.InfoLevel).With().Timestamp().Logger()
}

func zerologMessage(l zerolog.Logger, n int) {
	for range n {
		l.Info().Msg(message)
	}
}
