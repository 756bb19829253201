// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"log/slog"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"github.com/nib-log/nib/bench/measure"
)

// zap runs on its own core without a sampler, durations as integers and times
// as RFC 3339 in seconds: both are its fastest options. Milliseconds would
// leave the fast path of time.AppendFormat.
var zapPeer = Peer{
	Name: "zap", Module: "go.uber.org/zap", DurationUnit: time.Nanosecond,
	Rows: map[string]Setup{
		// A check before the call with Check would save the slice of fields, but
		// every library here has a similar function.
		"Disabled": Row(newZap(), func(l *zap.Logger, n int) {
			for range n {
				l.Debug(message, zap.String("method", method), zap.Int("status", status),
					zap.Duration("took", took))
			}
		}),
		"Message":   Row(newZap(), zapMessage),
		"TenFields": Row(newZap(), zapTen),
		"Bound": Row(func(w io.Writer) *zap.Logger {
			return newZap()(w).With(
				zap.String("method", method), zap.String("path", path),
				zap.String("request", request),
				zap.Int("status", status), zap.Int64("size", size), zap.Uint64("trace", trace),
				zap.Bool("cached", cached), zap.Float64("load", load),
				zap.Duration("took", took), zap.Time("started", started))
		}, zapMessage),
		"Caller": Row(newZap(zap.AddCaller()), zapMessage),
		"Error": Row(newZap(), func(l *zap.Logger, n int) {
			for range n {
				l.Error(message, zap.Error(errRefused))
			}
		}),
		"Formatted": Row(newZap(), func(l *zap.Logger, n int) {
			sugar := l.Sugar()
			for range n {
				sugar.Infof(format, path, status)
			}
		}),
		"StructValue": Row(newZap(), func(l *zap.Logger, n int) {
			for range n {
				l.Info(message, zap.Any("account", customerAccount))
			}
		}),
		"ArrayDict": Row(newZap(), func(l *zap.Logger, n int) {
			for range n {
				l.Info(message, zap.Ints("shards", shards),
					zap.Dict("peer", zap.String("method", method), zap.String("request", request),
						zap.Int("status", status), zap.Bool("cached", cached),
						zap.Float64("load", load)))
			}
		}),
		"Unicode": Row(newZap(), func(l *zap.Logger, n int) {
			for range n {
				l.Info(messageUnicode, zap.String("city", city), zap.String("customer", customer),
					zap.String("mood", mood))
			}
		}),
		"Escapes": Row(newZap(), func(l *zap.Logger, n int) {
			for range n {
				l.Info(messageEscapes, zap.String("conf", conf), zap.String("query", query),
					zap.String("terminal", terminal))
			}
		}),
		"Attrs": Row(newZap(), zapTen), // the fields are attributes of one call
		"SlogFront": Row(func(w io.Writer) slog.Handler {
			return zapslog.NewHandler(newZap()(w).Core())
		}, slogFront),
		"Bare": Row(func(w io.Writer) *zap.Logger {
			c := zapConfig()
			c.TimeKey, c.LevelKey = zapcore.OmitKey, zapcore.OmitKey
			return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(c), zapSyncer(w), zap.InfoLevel))
		}, zapMessage),
		"Buffered": zapBuffered,
	},
	Service: func(w io.Writer) func(id uint64) { return zapFive(newZap()(w)) },
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

func newZap(opts ...zap.Option) func(w io.Writer) *zap.Logger {
	return func(w io.Writer) *zap.Logger {
		encoder := zapcore.NewJSONEncoder(zapConfig())
		return zap.New(zapcore.NewCore(encoder, zapSyncer(w), zap.InfoLevel), opts...)
	}
}

func zapMessage(l *zap.Logger, n int) {
	for range n {
		l.Info(message)
	}
}

func zapTen(l *zap.Logger, n int) {
	for range n {
		l.Info(message,
			zap.String("method", method), zap.String("path", path), zap.String("request", request),
			zap.Int("status", status), zap.Int64("size", size), zap.Uint64("trace", trace),
			zap.Bool("cached", cached), zap.Float64("load", load),
			zap.Duration("took", took), zap.Time("started", started))
	}
}

func newZapBuffered(w io.Writer) (*zap.Logger, *zapcore.BufferedWriteSyncer) {
	b := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(w), Size: bufferSize}
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapConfig()), b, zap.InfoLevel)), b
}

func zapBuffered(p measure.Place) measure.Run {
	l, b := newZapBuffered(p.W)
	return measure.Run{
		Do:    func(n int) { zapTen(l, n) },
		Flush: func() { _ = b.Sync() }, // a pipe cannot be synced, but the lines are in it by then
		Close: func() error {
			_ = b.Stop() // likewise
			return nil
		},
	}
}

// zapFive logs the five lines of a request.
func zapFive(l *zap.Logger) func(id uint64) {
	return func(id uint64) {
		l.Info("request received", zap.Uint64("id", id), zap.String("method", method),
			zap.String("path", path))
		l.Info("session looked up", zap.Uint64("id", id), zap.String("key", request),
			zap.Bool("hit", cached))
		l.Info("query done", zap.Uint64("id", id), zap.Int("rows", status),
			zap.Duration("took", took))
		l.Info("page rendered", zap.Uint64("id", id), zap.Float64("load", load),
			zap.Time("started", started))
		l.Info(message, zap.Uint64("id", id), zap.Int("status", status), zap.Int64("size", size),
			zap.Duration("took", took))
	}
}
