// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"os"
	"sync/atomic"
)

var defaultLogger atomic.Pointer[Logger]

func init() {
	*idleLogger = *newLogger(output{}, []Option{WithLevel(minLevel)})
	defaultLogger.Store(New(os.Stderr))
}

// Default returns the logger of the package-level functions: JSON lines to
// standard error at LevelInfo, until SetDefault replaces it.
func Default() *Logger { return defaultLogger.Load() }

// SetDefault replaces the default logger; nil discards. It may be called at any
// time and concerns calls that begin later.
func SetDefault(l *Logger) { defaultLogger.Store(l) }

// Trace starts an event of the default logger; see [Logger.Trace].
func Trace() *Event { return Default().At(LevelTrace) }

// Debug is Trace at LevelDebug.
func Debug() *Event { return Default().At(LevelDebug) }

// Info is Trace at LevelInfo.
func Info() *Event { return Default().At(LevelInfo) }

// Warn is Trace at LevelWarn.
func Warn() *Event { return Default().At(LevelWarn) }

// Error is Trace at LevelError.
func Error() *Event { return Default().At(LevelError) }

// Panic starts an event that panics with its message; see [Logger.Panic].
func Panic() *Event { return Default().final(LevelPanic, thenPanic) }

// Fatal starts an event that ends the process; see [Logger.Fatal].
func Fatal() *Event { return Default().final(LevelFatal, thenExit) }

// ContextKey is the key under which a context carries its *Logger. NewContext
// and FromContext are the usual way; a context of one's own type may answer to
// the key itself, and make the logger when it is asked for.
type ContextKey struct{}

// NewContext returns a context that carries l.
func NewContext(ctx context.Context, l *Logger) context.Context {
	return context.WithValue(ctx, ContextKey{}, l)
}

// FromContext returns the logger that ctx carries, or Default() when it carries
// none: a line is never lost silently.
func FromContext(ctx context.Context) *Logger {
	if ctx != nil {
		if l, ok := ctx.Value(ContextKey{}).(*Logger); ok {
			return l
		}
	}
	return Default()
}
