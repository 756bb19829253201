// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"time"

	"github.com/rs/zerolog"
)

// zerolog runs with its defaults. Its time stays RFC 3339 in seconds: its
// global layout may be set to milliseconds, but then time.AppendFormat leaves
// its fast path, and the comparison would charge zerolog for a layout that is
// not set for speed.
var zerologPeer = Peer{
	Name:         "zerolog",
	Module:       "github.com/rs/zerolog",
	File:         "zerolog.go",
	DurationUnit: time.Millisecond,
	Disabled:     zerologDisabled,
	Message:      zerologMessage,
	Fields:       zerologFields,
	Bound:        zerologBound,
	Caller:       zerologCaller,
	Error:        zerologError,
	Formatted:    zerologFormatted,
	Pointer:      zerologPointer,
	Struct:       zerologStruct,
	Composite:    zerologComposite,
	Unicode:      zerologUnicode,
	Escapes:      zerologEscapes,
	Attrs:        nil, // Fields takes untyped pairs, not attributes
	SlogFront:    zerologSlogFront,
	Bare:         zerologBare,
	Buffered:     nil, // the diode writer drops lines when the pipe is slower than the callers
	Service:      zerologService,
}

func newZerolog(w io.Writer) zerolog.Logger {
	return zerolog.New(w).Level(zerolog.InfoLevel).With().Timestamp().Logger()
}

func zerologDisabled(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Debug().Str("method", method).Int("status", status).Dur("took", took).Msg(message)
		}
	})
}

func zerologMessage(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func zerologFields(w io.Writer) Run {
	l := newZerolog(w)
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

func zerologBound(w io.Writer) Run {
	l := newZerolog(w).With().
		Str("method", method).Str("path", path).Str("request", request).
		Int("status", status).Int64("size", size).Uint64("trace", trace).
		Bool("cached", cached).Float64("load", load).
		Dur("took", took).Time("started", started).
		Logger()
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func zerologCaller(w io.Writer) Run {
	l := newZerolog(w).With().Caller().Logger()
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func zerologError(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Error().Err(errRefused).Msg(message)
		}
	})
}

func zerologFormatted(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Info().Msgf(format, path, status)
		}
	})
}

func zerologPointer(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Info().Any("account", &customerAccount).Msg(message)
		}
	})
}

func zerologStruct(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Info().Any("account", customerAccount).Msg(message)
		}
	})
}

func zerologComposite(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			e := l.Info()
			e.Ints("shards", shards).
				Dict("peer", e.CreateDict().
					Str("method", method).Str("request", request).Int("status", status).
					Bool("cached", cached).Float64("load", load)).
				Msg(message)
		}
	})
}

func zerologUnicode(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Info().Str("city", city).Str("customer", customer).Str("mood", mood).Msg(messageUnicode)
		}
	})
}

func zerologEscapes(w io.Writer) Run {
	l := newZerolog(w)
	return run(func(n int) {
		for range n {
			l.Info().Str("file", file).Str("query", query).Str("terminal", terminal).Msg(messageEscapes)
		}
	})
}

func zerologSlogFront(w io.Writer) Run {
	// The handler writes the record's own time.
	h := zerolog.NewSlogHandler(zerolog.New(w).Level(zerolog.InfoLevel))
	return slogFront(h)
}

func zerologBare(w io.Writer) Run {
	l := zerolog.New(w)
	return run(func(n int) {
		for range n {
			l.Log().Msg(message)
		}
	})
}

func zerologService(w io.Writer) func(id uint64) {
	l := newZerolog(w)
	return func(id uint64) {
		l.Info().Uint64("id", id).Str("method", method).Str("path", path).Msg("request received")
		l.Info().Uint64("id", id).Str("key", request).Bool("hit", cached).Msg("session looked up")
		l.Info().Uint64("id", id).Int("rows", status).Dur("took", took).Msg("query done")
		l.Info().Uint64("id", id).Float64("load", load).Time("started", started).Msg("page rendered")
		l.Info().Uint64("id", id).Int("status", status).Int64("size", size).Dur("took", took).Msg(message)
	}
}
