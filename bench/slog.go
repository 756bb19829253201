// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// log/slog runs its JSONHandler and is called through LogAttrs, which its
// documentation names as the efficient way.
var slogPeer = Peer{
	Name:         "slog",
	File:         "slog.go",
	DurationUnit: time.Nanosecond,
	Disabled:     slogDisabled,
	Message:      slogMessage,
	Fields:       slogFields,
	Bound:        slogBound,
	Caller:       slogCaller,
	Error:        slogError,
	Formatted:    slogFormatted,
	Pointer:      slogPointer,
	Struct:       slogStruct,
	Composite:    slogComposite,
	Unicode:      slogUnicode,
	Escapes:      slogEscapes,
	Attrs:        slogFields,
	SlogFront:    func(w io.Writer) Run { return slogFront(slogHandler(w)) },
	Bare:         nil, // possible only through ReplaceAttr, its slow path
	Buffered:     nil, // has no buffering writer
	Service:      slogService,
}

var background = context.Background()

func slogHandler(w io.Writer) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
}

func newSlog(w io.Writer) *slog.Logger { return slog.New(slogHandler(w)) }

// slogFront is the scenario SlogFront, in which libraries differ only in the
// handler.
func slogFront(h slog.Handler) Run {
	l := slog.New(h)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message,
				slog.String("method", method), slog.String("path", path), slog.Int("status", status),
				slog.Duration("took", took), slog.Bool("cached", cached))
		}
	})
}

func slogDisabled(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelDebug, message,
				slog.String("method", method), slog.Int("status", status), slog.Duration("took", took))
		}
	})
}

func slogMessage(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message)
		}
	})
}

func slogFields(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message,
				slog.String("method", method), slog.String("path", path), slog.String("request", request),
				slog.Int("status", status), slog.Int64("size", size), slog.Uint64("trace", trace),
				slog.Bool("cached", cached), slog.Float64("load", load),
				slog.Duration("took", took), slog.Time("started", started))
		}
	})
}

func slogBound(w io.Writer) Run {
	l := newSlog(w).With(
		slog.String("method", method), slog.String("path", path), slog.String("request", request),
		slog.Int("status", status), slog.Int64("size", size), slog.Uint64("trace", trace),
		slog.Bool("cached", cached), slog.Float64("load", load),
		slog.Duration("took", took), slog.Time("started", started))
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message)
		}
	})
}

func slogCaller(w io.Writer) Run {
	l := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{AddSource: true}))
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message)
		}
	})
}

func slogError(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelError, message, slog.Any("error", errRefused))
		}
	})
}

// slogFormatted formats outside the logger, because slog has no call for that.
func slogFormatted(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, fmt.Sprintf(format, path, status))
		}
	})
}

func slogPointer(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message, slog.Any("account", &customerAccount))
		}
	})
}

func slogStruct(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message, slog.Any("account", customerAccount))
		}
	})
}

func slogComposite(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, message, slog.Any("shards", shards),
				slog.GroupAttrs("peer", slog.String("method", method), slog.String("request", request),
					slog.Int("status", status), slog.Bool("cached", cached), slog.Float64("load", load)))
		}
	})
}

func slogUnicode(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, messageUnicode,
				slog.String("city", city), slog.String("customer", customer), slog.String("mood", mood))
		}
	})
}

func slogEscapes(w io.Writer) Run {
	l := newSlog(w)
	return run(func(n int) {
		for range n {
			l.LogAttrs(background, slog.LevelInfo, messageEscapes,
				slog.String("file", file), slog.String("query", query), slog.String("terminal", terminal))
		}
	})
}

func slogService(w io.Writer) func(id uint64) {
	l := newSlog(w)
	return func(id uint64) {
		l.LogAttrs(background, slog.LevelInfo, "request received", slog.Uint64("id", id), slog.String("method", method), slog.String("path", path))
		l.LogAttrs(background, slog.LevelInfo, "session looked up", slog.Uint64("id", id), slog.String("key", request), slog.Bool("hit", cached))
		l.LogAttrs(background, slog.LevelInfo, "query done", slog.Uint64("id", id), slog.Int("rows", status), slog.Duration("took", took))
		l.LogAttrs(background, slog.LevelInfo, "page rendered", slog.Uint64("id", id), slog.Float64("load", load), slog.Time("started", started))
		l.LogAttrs(background, slog.LevelInfo, message, slog.Uint64("id", id), slog.Int("status", status), slog.Int64("size", size), slog.Duration("took", took))
	}
}
