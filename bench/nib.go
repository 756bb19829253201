// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/sink/stdout"
)

// nib runs with its defaults.
var nibPeer = Peer{
	Name:         "nib",
	File:         "nib.go",
	DurationUnit: time.Millisecond,
	SlogUnit:     time.Nanosecond,
	Disabled:     nibDisabled,
	Message:      nibMessage,
	Fields:       nibFields,
	Bound:        nibBound,
	Caller:       nibCaller,
	Error:        nibError,
	Formatted:    nibFormatted,
	Pointer:      nibPointer,
	Struct:       nibStruct,
	Composite:    nibComposite,
	Unicode:      nibUnicode,
	Escapes:      nibEscapes,
	Attrs:        nibAttrs,
	SlogFront:    nibSlogFront,
	Bare:         nibBare,
	Buffered:     nibBuffered,
	Service:      func(w io.Writer) func(id uint64) { return nibFive(newNib(w)) },
	BufferedService: func(w io.Writer) func(id uint64) {
		l, _ := newNibBuffered(w)
		return nibFive(l)
	},
}

func newNib(w io.Writer, opts ...nib.Option) *nib.Logger { return nib.New(w, opts...) }

func newNibBuffered(w io.Writer) (*nib.Logger, *stdout.Sink) {
	s := stdout.New(stdout.Config{File: w.(*os.File), Buffer: bufferSize})
	return nib.NewSink(s), s
}

func nibDisabled(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Debug().Str("method", method).Int("status", status).Dur("took", took).Msg(message)
		}
	})
}

func nibMessage(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func nibFields(w io.Writer) Run { return nibTen(newNib(w)) }

func nibTen(l *nib.Logger) Run {
	return run(func(n int) {
		for range n {
			l.Info().
				Str("method", method).Str("path", path).Str("request", request).
				Int("status", status).Int64("size", size).Uint64("trace", trace).
				Bool("cached", cached).Float64("load", load).
				Dur("took", took).Time("started", started).
				Msg(message)
		}
	})
}

func nibBound(w io.Writer) Run {
	l := newNib(w).With(func(e *nib.Event) {
		e.Str("method", method).Str("path", path).Str("request", request).
			Int("status", status).Int64("size", size).Uint64("trace", trace).
			Bool("cached", cached).Float64("load", load).
			Dur("took", took).Time("started", started)
	})
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func nibCaller(w io.Writer) Run {
	l := newNib(w, nib.WithCaller())
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func nibError(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Error().Err(errRefused).Msg(message)
		}
	})
}

func nibFormatted(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Msgf(format, path, status)
		}
	})
}

func nibPointer(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Any("account", &customerAccount).Msg(message)
		}
	})
}

func nibStruct(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Any("account", customerAccount).Msg(message)
		}
	})
}

func nibComposite(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Ints("shards", shards).
				Dict("peer", func(e *nib.Event) {
					e.Str("method", method).Str("request", request).Int("status", status).
						Bool("cached", cached).Float64("load", load)
				}).
				Msg(message)
		}
	})
}

func nibUnicode(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Str("city", city).Str("customer", customer).Str("mood", mood).Msg(messageUnicode)
		}
	})
}

func nibEscapes(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.Info().Str("file", file).Str("query", query).Str("terminal", terminal).Msg(messageEscapes)
		}
	})
}

func nibAttrs(w io.Writer) Run {
	l := newNib(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, nib.LevelInfo, message,
				slog.String("method", method), slog.String("path", path), slog.String("request", request),
				slog.Int("status", status), slog.Int64("size", size), slog.Uint64("trace", trace),
				slog.Bool("cached", cached), slog.Float64("load", load),
				slog.Duration("took", took), slog.Time("started", started))
		}
	})
}

func nibSlogFront(w io.Writer) Run {
	return slogFront(nibslog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func nibBare(w io.Writer) Run {
	l := newNib(w, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey}))
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func nibBuffered(w io.Writer) Run {
	l, s := newNibBuffered(w)
	r := nibTen(l)
	r.Flush = func() { _ = s.Flush(background) }
	r.Close = func() {
		if lost := s.Stats().Lost(); lost > 0 {
			panic(fmt.Sprintf("nib dropped %d lines: what was measured is not what the others did", lost))
		}
		_ = s.Close()
	}
	return r
}

// nibFive logs the five lines of a request.
func nibFive(l *nib.Logger) func(id uint64) {
	return func(id uint64) {
		l.Info().Uint64("id", id).Str("method", method).Str("path", path).Msg("request received")
		l.Info().Uint64("id", id).Str("key", request).Bool("hit", cached).Msg("session looked up")
		l.Info().Uint64("id", id).Int("rows", status).Dur("took", took).Msg("query done")
		l.Info().Uint64("id", id).Float64("load", load).Time("started", started).Msg("page rendered")
		l.Info().Uint64("id", id).Int("status", status).Int64("size", size).Dur("took", took).Msg(message)
	}
}
