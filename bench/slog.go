// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// log/slog runs its JSONHandler and is called through LogAttrs, which its
// documentation names as the efficient way.
//
// It has no row Bare, because only ReplaceAttr, its slow path, can leave out
// keys, and no Buffered, because it has no buffering writer.
var slogPeer = Peer{
	Name: "slog", DurationUnit: time.Nanosecond,
	Rows: map[string]Setup{
		"Disabled": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelDebug, message,
					slog.String("method", method), slog.Int("status", status),
					slog.Duration("took", took))
			}
		}),
		"Message":   Row(newSlog, slogMessage),
		"TenFields": Row(newSlog, slogTen),
		"Bound": Row(func(w io.Writer) *slog.Logger {
			return newSlog(w).With(
				slog.String("method", method), slog.String("path", path),
				slog.String("request", request), slog.Int("status", status),
				slog.Int64("size", size), slog.Uint64("trace", trace),
				slog.Bool("cached", cached), slog.Float64("load", load),
				slog.Duration("took", took), slog.Time("started", started))
		}, slogMessage),
		"Caller": Row(func(w io.Writer) *slog.Logger {
			return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{AddSource: true}))
		}, slogMessage),
		"Error": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelError, message, slog.Any("error", errRefused))
			}
		}),
		// It has no call that formats.
		"Formatted": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelInfo, fmt.Sprintf(format, path, status))
			}
		}),
		"StructValue": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelInfo, message,
					slog.Any("account", customerAccount))
			}
		}),
		"ArrayDict": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelInfo, message, slog.Any("shards", shards),
					slog.GroupAttrs("peer", slog.String("method", method),
						slog.String("request", request),
						slog.Int("status", status), slog.Bool("cached", cached),
						slog.Float64("load", load)))
			}
		}),
		"Unicode": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelInfo, messageUnicode,
					slog.String("city", city), slog.String("customer", customer),
					slog.String("mood", mood))
			}
		}),
		"Escapes": Row(newSlog, func(l *slog.Logger, n int) {
			for range n {
				l.LogAttrs(background, slog.LevelInfo, messageEscapes, slog.String("conf", conf),
					slog.String("query", query), slog.String("terminal", terminal))
			}
		}),
		"Attrs":     Row(newSlog, slogTen),
		"SlogFront": Row(slogHandler, slogFront),
	},
	Service: func(w io.Writer) func(id uint64) {
		l := newSlog(w)
		return func(id uint64) {
			l.LogAttrs(background, slog.LevelInfo, "request received",
				slog.Uint64("id", id), slog.String("method", method), slog.String("path", path))
			l.LogAttrs(background, slog.LevelInfo, "session looked up",
				slog.Uint64("id", id), slog.String("key", request), slog.Bool("hit", cached))
			l.LogAttrs(background, slog.LevelInfo, "query done",
				slog.Uint64("id", id), slog.Int("rows", status), slog.Duration("took", took))
			l.LogAttrs(background, slog.LevelInfo, "page rendered",
				slog.Uint64("id", id), slog.Float64("load", load), slog.Time("started", started))
			l.LogAttrs(background, slog.LevelInfo, message, slog.Uint64("id", id),
				slog.Int("status", status), slog.Int64("size", size), slog.Duration("took", took))
		}
	},
}

func slogHandler(w io.Writer) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
}

func newSlog(w io.Writer) *slog.Logger { return slog.New(slogHandler(w)) }

func slogMessage(l *slog.Logger, n int) {
	for range n {
		l.LogAttrs(background, slog.LevelInfo, message)
	}
}

func slogTen(l *slog.Logger, n int) {
	for range n {
		l.LogAttrs(background, slog.LevelInfo, message,
			slog.String("method", method), slog.String("path", path),
			slog.String("request", request),
			slog.Int("status", status), slog.Int64("size", size), slog.Uint64("trace", trace),
			slog.Bool("cached", cached), slog.Float64("load", load),
			slog.Duration("took", took), slog.Time("started", started))
	}
}

// slogFront is the row SlogFront, in which libraries differ only in the
// handler.
func slogFront(h slog.Handler, n int) {
	l := slog.New(h)
	for range n {
		l.LogAttrs(background, slog.LevelInfo, message,
			slog.String("method", method), slog.String("path", path), slog.Int("status", status),
			slog.Duration("took", took), slog.Bool("cached", cached))
	}
}
