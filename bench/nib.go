// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/sink/stdout"
)

// nib runs with its defaults.
var nibPeer = Peer{
	Name: "nib", DurationUnit: time.Millisecond, SlogUnit: time.Nanosecond,
	Rows: map[string]Setup{
		"Disabled": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Debug().Str("method", method).Int("status", status).Dur("took", took).Msg(message)
			}
		}),
		"Message":   Row(newNib(), nibMessage),
		"TenFields": Row(newNib(), NibTen),
		"Bound": Row(func(w io.Writer) *nib.Logger {
			return nib.New(w).With(func(e *nib.Event) {
				e.Str("method", method).Str("path", path).Str("request", request).
					Int("status", status).Int64("size", size).Uint64("trace", trace).
					Bool("cached", cached).Float64("load", load).
					Dur("took", took).Time("started", started)
			})
		}, nibMessage),
		"Caller": Row(newNib(nib.WithCaller()), nibMessage),
		"Error": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Error().Err(errRefused).Msg(message)
			}
		}),
		"Formatted": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Info().Msgf(format, path, status)
			}
		}),
		"StructValue": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Info().Any("account", customerAccount).Msg(message)
			}
		}),
		"ArrayDict": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Info().Ints("shards", shards).
					Dict("peer", func(e *nib.Event) {
						e.Str("method", method).Str("request", request).Int("status", status).
							Bool("cached", cached).Float64("load", load)
					}).
					Msg(message)
			}
		}),
		"Unicode": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Info().Str("city", city).Str("customer", customer).Str("mood", mood).
					Msg(messageUnicode)
			}
		}),
		"Escapes": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.Info().Str("conf", conf).Str("query", query).Str("terminal", terminal).
					Msg(messageEscapes)
			}
		}),
		"Attrs": Row(newNib(), func(l *nib.Logger, n int) {
			for range n {
				l.LogAttrs(background, nib.LevelInfo, message,
					slog.String("method", method), slog.String("path", path),
					slog.String("request", request), slog.Int("status", status),
					slog.Int64("size", size), slog.Uint64("trace", trace),
					slog.Bool("cached", cached), slog.Float64("load", load),
					slog.Duration("took", took), slog.Time("started", started))
			}
		}),
		"SlogFront": Row(func(w io.Writer) slog.Handler {
			return nibslog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
		}, slogFront),
		"Bare": Row(newNib(nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey})),
			nibMessage),
		"Buffered": nibBuffered,
	},
	Service: func(w io.Writer) func(id uint64) { return nibFive(nib.New(w)) },
	BufferedService: func(w io.Writer) func(id uint64) {
		l, _ := newNibBuffered(w)
		return nibFive(l)
	},
}

func newNib(opts ...nib.Option) func(w io.Writer) *nib.Logger {
	return func(w io.Writer) *nib.Logger { return nib.New(w, opts...) }
}

func nibMessage(l *nib.Logger, n int) {
	for range n {
		l.Info().Msg(message)
	}
}

// NibTen logs n lines of ten fields.
func NibTen(l *nib.Logger, n int) {
	for range n {
		l.Info().
			Str("method", method).Str("path", path).Str("request", request).
			Int("status", status).Int64("size", size).Uint64("trace", trace).
			Bool("cached", cached).Float64("load", load).
			Dur("took", took).Time("started", started).
			Msg(message)
	}
}

func newNibBuffered(w io.Writer) (*nib.Logger, *stdout.Sink) {
	s := stdout.New(stdout.Config{File: w.(*os.File), Buffer: bufferSize})
	return nib.NewSink(s), s
}

func nibBuffered(p measure.Place) measure.Run {
	l, s := newNibBuffered(p.W)
	return measure.Run{
		Do:    func(n int) { NibTen(l, n) },
		Flush: func() { _ = s.Flush(background) },
		Check: func() error {
			if lost := s.Stats().Lost(); lost > 0 {
				return fmt.Errorf("%d lines lost: the others have written theirs", lost)
			}
			return nil
		},
		Close: s.Close,
	}
}

// nibFive logs the five lines of a request.
func nibFive(l *nib.Logger) func(id uint64) {
	return func(id uint64) {
		l.Info().Uint64("id", id).Str("method", method).Str("path", path).Msg("request received")
		l.Info().Uint64("id", id).Str("key", request).Bool("hit", cached).Msg("session looked up")
		l.Info().Uint64("id", id).Int("rows", status).Dur("took", took).Msg("query done")
		l.Info().Uint64("id", id).Float64("load", load).Time("started", started).
			Msg("page rendered")
		l.Info().Uint64("id", id).Int("status", status).Int64("size", size).Dur("took", took).
			Msg(message)
	}
}
