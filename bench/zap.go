// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"
)

// zap runs on its own core without a sampler, durations as integers and times
// as RFC 3339 in seconds: both are its fastest options. Milliseconds would
// leave the fast path of time.AppendFormat.
var zapPeer = Peer{
	Name:         "zap",
	Module:       "go.uber.org/zap",
	File:         "zap.go",
	DurationUnit: time.Nanosecond,
	Disabled:     zapDisabled,
	Message:      zapMessage,
	Fields:       zapFields,
	Bound:        zapBound,
	Caller:       zapCaller,
	Error:        zapError,
	Formatted:    zapFormatted,
	Pointer:      zapPointer,
	Struct:       zapStruct,
	Composite:    zapComposite,
	Unicode:      zapUnicode,
	Escapes:      zapEscapes,
	Attrs:        zapFields, // the fields are attributes of one call
	SlogFront:    zapSlogFront,
	Bare:         zapBare,
	Buffered:     zapBuffered,
	Service:      func(w io.Writer) func(id uint64) { return zapFive(newZap(w)) },
	BufferedService: func(w io.Writer) func(id uint64) {
		l, _ := newZapBuffered(w)
		return zapFive(l)
	},
}

func zapConfig() zapcore.EncoderConfig {
	c := zap.NewProductionEncoderConfig()
	c.EncodeDuration = zapcore.NanosDurationEncoder
	c.EncodeTime = zapcore.RFC3339TimeEncoder
	return c
}

// zapSyncer locks files, as zap's documentation requires.
func zapSyncer(w io.Writer) zapcore.WriteSyncer {
	if f, ok := w.(*os.File); ok {
		return zapcore.Lock(f)
	}
	return zapcore.AddSync(w)
}

func newZap(w io.Writer, opts ...zap.Option) *zap.Logger {
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapConfig()), zapSyncer(w), zap.InfoLevel), opts...)
}

// zapDisabled makes the plain call, as for the other libraries. A check before
// it with Check would save the slice of fields, but every library here has a
// similar function.
func zapDisabled(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Debug(message, zap.String("method", method), zap.Int("status", status), zap.Duration("took", took))
		}
	})
}

func zapMessage(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func zapFields(w io.Writer) Run { return zapTen(newZap(w)) }

func zapTen(l *zap.Logger) Run {
	return run(func(n int) {
		for range n {
			l.Info(message,
				zap.String("method", method), zap.String("path", path), zap.String("request", request),
				zap.Int("status", status), zap.Int64("size", size), zap.Uint64("trace", trace),
				zap.Bool("cached", cached), zap.Float64("load", load),
				zap.Duration("took", took), zap.Time("started", started))
		}
	})
}

func zapBound(w io.Writer) Run {
	l := newZap(w).With(
		zap.String("method", method), zap.String("path", path), zap.String("request", request),
		zap.Int("status", status), zap.Int64("size", size), zap.Uint64("trace", trace),
		zap.Bool("cached", cached), zap.Float64("load", load),
		zap.Duration("took", took), zap.Time("started", started))
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func zapCaller(w io.Writer) Run {
	l := newZap(w, zap.AddCaller())
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func zapError(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Error(message, zap.Error(errRefused))
		}
	})
}

func zapFormatted(w io.Writer) Run {
	l := newZap(w).Sugar()
	return run(func(n int) {
		for range n {
			l.Infof(format, path, status)
		}
	})
}

func zapPointer(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Info(message, zap.Any("account", &customerAccount))
		}
	})
}

func zapStruct(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Info(message, zap.Any("account", customerAccount))
		}
	})
}

func zapComposite(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Info(message, zap.Ints("shards", shards),
				zap.Dict("peer", zap.String("method", method), zap.String("request", request),
					zap.Int("status", status), zap.Bool("cached", cached), zap.Float64("load", load)))
		}
	})
}

func zapUnicode(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Info(messageUnicode, zap.String("city", city), zap.String("customer", customer), zap.String("mood", mood))
		}
	})
}

func zapEscapes(w io.Writer) Run {
	l := newZap(w)
	return run(func(n int) {
		for range n {
			l.Info(messageEscapes, zap.String("file", file), zap.String("query", query), zap.String("terminal", terminal))
		}
	})
}

func zapSlogFront(w io.Writer) Run { return slogFront(zapslog.NewHandler(newZap(w).Core())) }

func zapBare(w io.Writer) Run {
	c := zapConfig()
	c.TimeKey, c.LevelKey = zapcore.OmitKey, zapcore.OmitKey
	l := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(c), zapSyncer(w), zap.InfoLevel))
	return run(func(n int) {
		for range n {
			l.Info(message)
		}
	})
}

func newZapBuffered(w io.Writer) (*zap.Logger, *zapcore.BufferedWriteSyncer) {
	b := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(w), Size: bufferSize}
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapConfig()), b, zap.InfoLevel)), b
}

func zapBuffered(w io.Writer) Run {
	l, b := newZapBuffered(w)
	r := zapTen(l)
	r.Flush = func() { _ = b.Sync() } // a pipe cannot be synced, but the lines are in it by then
	r.Close = func() { _ = b.Stop() }
	return r
}

// zapFive logs the five lines of a request.
func zapFive(l *zap.Logger) func(id uint64) {
	return func(id uint64) {
		l.Info("request received", zap.Uint64("id", id), zap.String("method", method), zap.String("path", path))
		l.Info("session looked up", zap.Uint64("id", id), zap.String("key", request), zap.Bool("hit", cached))
		l.Info("query done", zap.Uint64("id", id), zap.Int("rows", status), zap.Duration("took", took))
		l.Info("page rendered", zap.Uint64("id", id), zap.Float64("load", load), zap.Time("started", started))
		l.Info(message, zap.Uint64("id", id), zap.Int("status", status), zap.Int64("size", size), zap.Duration("took", took))
	}
}
