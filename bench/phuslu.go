// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"log/slog"
	"time"

	"github.com/phuslu/log"
)

// phuslu/log runs with the time layout left empty, as it recommends.
//
// It has no row Attrs, because KeysAndValues takes untyped pairs, no Bare,
// because it cannot leave out the time, and no Buffered: AsyncWriter joins
// lines for its own files only, and flushes only when closed.
var phusluPeer = Peer{
	Name: "phuslu", Module: "github.com/phuslu/log",
	DurationUnit: time.Millisecond, SlogUnit: time.Nanosecond,
	Rows: map[string]Setup{
		"Disabled": Row(newPhuslu, func(l *log.Logger, n int) {
			for range n {
				l.Debug().Str("method", method).Int("status", status).Dur("took", took).Msg(message)
			}
		}),
		"Message":   Row(newPhuslu, phusluMessage),
		"TenFields": Row(newPhuslu, PhusluTen),
		"Bound": Row(func(w io.Writer) *log.Logger {
			l := newPhuslu(w)
			l.Context = log.NewContext(nil).
				Str("method", method).Str("path", path).Str("request", request).
				Int("status", status).Int64("size", size).Uint64("trace", trace).
				Bool("cached", cached).Float64("load", load).
				Dur("took", took).Time("started", started).
				Value()
			return l
		}, phusluMessage),
		"Caller": Row(func(w io.Writer) *log.Logger {
			l := newPhuslu(w)
			l.Caller = 1
			return l
		}, phusluMessage),
		"Error": Row(newPhuslu, func(l *log.Logger, n int) {
			for range n {
				l.Error().Err(errRefused).Msg(message)
			}
		}),
		"Formatted": Row(newPhuslu, func(l *log.Logger, n int) {
			for range n {
				l.Info().Msgf(format, path, status)
			}
		}),
		"StructValue": Row(newPhuslu, func(l *log.Logger, n int) {
			for range n {
				l.Info().Any("account", customerAccount).Msg(message)
			}
		}),
		"ArrayDict": Row(newPhuslu, func(l *log.Logger, n int) {
			// One context buffer per goroutine, reused: NewContext(nil) would grow a
			// new one for every line.
			buf := make([]byte, 0, 256)
			for range n {
				l.Info().Ints("shards", shards).
					Dict("peer", log.NewContext(buf[:0]).
						Str("method", method).Str("request", request).Int("status", status).
						Bool("cached", cached).Float64("load", load).Value()).
					Msg(message)
			}
		}),
		"Unicode": Row(newPhuslu, func(l *log.Logger, n int) {
			for range n {
				l.Info().Str("city", city).Str("customer", customer).Str("mood", mood).
					Msg(messageUnicode)
			}
		}),
		"Escapes": Row(newPhuslu, func(l *log.Logger, n int) {
			for range n {
				l.Info().Str("conf", conf).Str("query", query).Str("terminal", terminal).
					Msg(messageEscapes)
			}
		}),
		"SlogFront": Row(func(w io.Writer) slog.Handler {
			return log.SlogNewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
		}, slogFront),
	},
	Service: func(w io.Writer) func(id uint64) {
		l := newPhuslu(w)
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

func newPhuslu(w io.Writer) *log.Logger {
	return &log.Logger{Level: log.InfoLevel, Writer: log.IOWriter{Writer: w}}
}

func phusluMessage(l *log.Logger, n int) {
	for range n {
		l.Info().Msg(message)
	}
}

// PhusluTen logs n lines of ten fields.
func PhusluTen(l *log.Logger, n int) {
	for range n {
		l.Info().
			Str("method", method).Str("path", path).Str("request", request).
			Int("status", status).Int64("size", size).Uint64("trace", trace).
			Bool("cached", cached).Float64("load", load).
			Dur("took", took).Time("started", started).
			Msg(message)
	}
}
