// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"log/slog"
	"time"

	"github.com/phuslu/log"
)

// phuslu/log runs with the time layout left empty, as it recommends.
var phusluPeer = Peer{
	Name:         "phuslu",
	Module:       "github.com/phuslu/log",
	File:         "phuslu.go",
	DurationUnit: time.Millisecond,
	SlogUnit:     time.Nanosecond,
	Disabled:     phusluDisabled,
	Message:      phusluMessage,
	Fields:       phusluFields,
	Bound:        phusluBound,
	Caller:       phusluCaller,
	Error:        phusluError,
	Formatted:    phusluFormatted,
	Pointer:      phusluPointer,
	Struct:       phusluStruct,
	Composite:    phusluComposite,
	Unicode:      phusluUnicode,
	Escapes:      phusluEscapes,
	Attrs:        nil, // KeysAndValues takes untyped pairs, not attributes
	SlogFront:    phusluSlogFront,
	Bare:         nil, // cannot leave out the time
	Buffered:     nil, // AsyncWriter joins lines for its own files only, and flushes only when closed
	Service:      phusluService,
}

func newPhuslu(w io.Writer) *log.Logger {
	return &log.Logger{Level: log.InfoLevel, Writer: log.IOWriter{Writer: w}}
}

func phusluDisabled(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Debug().Str("method", method).Int("status", status).Dur("took", took).Msg(message)
		}
	})
}

func phusluMessage(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func phusluFields(w io.Writer) Run { return phusluTen(newPhuslu(w)) }

func phusluTen(l *log.Logger) Run {
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

func phusluBound(w io.Writer) Run {
	l := newPhuslu(w)
	l.Context = log.NewContext(nil).
		Str("method", method).Str("path", path).Str("request", request).
		Int("status", status).Int64("size", size).Uint64("trace", trace).
		Bool("cached", cached).Float64("load", load).
		Dur("took", took).Time("started", started).
		Value()
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func phusluCaller(w io.Writer) Run {
	l := newPhuslu(w)
	l.Caller = 1
	return run(func(n int) {
		for range n {
			l.Info().Msg(message)
		}
	})
}

func phusluError(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Error().Err(errRefused).Msg(message)
		}
	})
}

func phusluFormatted(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Info().Msgf(format, path, status)
		}
	})
}

func phusluPointer(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Info().Any("account", &customerAccount).Msg(message)
		}
	})
}

func phusluStruct(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Info().Any("account", customerAccount).Msg(message)
		}
	})
}

func phusluComposite(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		// One context buffer per goroutine, reused: NewContext(nil) would grow
		// a new one for every line.
		buf := make([]byte, 0, 256)
		for range n {
			l.Info().Ints("shards", shards).
				Dict("peer", log.NewContext(buf[:0]).
					Str("method", method).Str("request", request).Int("status", status).
					Bool("cached", cached).Float64("load", load).Value()).
				Msg(message)
		}
	})
}

func phusluUnicode(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Info().Str("city", city).Str("customer", customer).Str("mood", mood).Msg(messageUnicode)
		}
	})
}

func phusluEscapes(w io.Writer) Run {
	l := newPhuslu(w)
	return run(func(n int) {
		for range n {
			l.Info().Str("file", file).Str("query", query).Str("terminal", terminal).Msg(messageEscapes)
		}
	})
}

func phusluSlogFront(w io.Writer) Run {
	return slogFront(log.SlogNewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func phusluService(w io.Writer) func(id uint64) {
	l := newPhuslu(w)
	return func(id uint64) {
		l.Info().Uint64("id", id).Str("method", method).Str("path", path).Msg("request received")
		l.Info().Uint64("id", id).Str("key", request).Bool("hit", cached).Msg("session looked up")
		l.Info().Uint64("id", id).Int("rows", status).Dur("took", took).Msg("query done")
		l.Info().Uint64("id", id).Float64("load", load).Time("started", started).Msg("page rendered")
		l.Info().Uint64("id", id).Int("status", status).Int64("size", size).Dur("took", took).Msg(message)
	}
}
