// SPDX-License-Identifier: Apache-2.0

package nibhclog

import (
	"io"
	"log"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/nib-log/nib"
)

var _ hclog.Logger = (*logger)(nil)

// New returns an hclog.Logger that writes through l. A nil l discards. It is
// safe for concurrent use.
func New(l *nib.Logger) hclog.Logger {
	return &logger{root: l, log: l, level: new(atomic.Int32)}
}

// Layout returns the shape of hclog's JSON output.
func Layout() nib.Layout {
	return nib.Layout{
		TimeKey: "@timestamp", LevelKey: "@level", MessageKey: "@message", LoggerKey: "@module",
		CallerKey: "@caller",
		StackKey:  nib.OmitKey, TimeFormat: hclog.TimeFormatJSON, Duration: nib.DurationNanos,
	}
}

// levelOf returns nib's level for one of hclog.
func levelOf(l hclog.Level) nib.Level {
	return 4 * nib.Level(min(l, hclog.Error)-hclog.Info)
}

// A logger is immutable except for its level.
type logger struct {
	root    *nib.Logger // the logger without name and arguments
	log     *nib.Logger
	name    string
	implied []any         // the arguments of With
	level   *atomic.Int32 // set by SetLevel, shared with the loggers of the same origin
}

// enabled compares level with the level of SetLevel or, if it was not called,
// of the nib.Logger.
func (l *logger) enabled(level hclog.Level) bool {
	if own := hclog.Level(l.level.Load()); own != hclog.NoLevel {
		return level >= own
	}
	return l.log.Enabled(levelOf(level))
}

// emit writes one line. It is called by the method that the code calls to log.
func (l *logger) emit(level hclog.Level, msg string, args []any) {
	if !l.enabled(level) {
		return
	}
	e := l.log.AtDepth(levelOf(level), 2)
	add(e, args)
	e.Msg(msg)
}

func (l *logger) Log(level hclog.Level, msg string, args ...any) { l.emit(level, msg, args) }
func (l *logger) Trace(msg string, args ...any)                  { l.emit(hclog.Trace, msg, args) }
func (l *logger) Debug(msg string, args ...any)                  { l.emit(hclog.Debug, msg, args) }
func (l *logger) Info(msg string, args ...any)                   { l.emit(hclog.Info, msg, args) }
func (l *logger) Warn(msg string, args ...any)                   { l.emit(hclog.Warn, msg, args) }
func (l *logger) Error(msg string, args ...any)                  { l.emit(hclog.Error, msg, args) }

func (l *logger) IsTrace() bool { return l.enabled(hclog.Trace) }
func (l *logger) IsDebug() bool { return l.enabled(hclog.Debug) }
func (l *logger) IsInfo() bool  { return l.enabled(hclog.Info) }
func (l *logger) IsWarn() bool  { return l.enabled(hclog.Warn) }
func (l *logger) IsError() bool { return l.enabled(hclog.Error) }

func (l *logger) ImpliedArgs() []any { return l.implied }

func (l *logger) Name() string { return l.name }

// With returns a logger whose lines all have args, sorted by key together with
// the arguments of l. An argument replaces one of l with the same key. With
// encodes them once.
func (l *logger) With(args ...any) hclog.Logger {
	n := *l
	n.implied = merge(l.implied, args)
	return n.derive()
}

func (l *logger) Named(name string) hclog.Logger {
	if l.name != "" {
		name = l.name + "." + name
	}
	return l.ResetNamed(name)
}

func (l *logger) ResetNamed(name string) hclog.Logger {
	n := *l
	n.name = name
	return n.derive()
}

// derive makes the nib.Logger of a new logger.
func (l *logger) derive() *logger {
	l.log = l.root.Named(l.name).With(func(e *nib.Event) { add(e, l.implied) })
	return l
}

func (l *logger) SetLevel(level hclog.Level) { l.level.Store(int32(level)) }

func (l *logger) GetLevel() hclog.Level {
	if own := hclog.Level(l.level.Load()); own != hclog.NoLevel {
		return own
	}
	for level := hclog.Trace; level < hclog.Off; level++ {
		if l.log.Enabled(levelOf(level)) {
			return level
		}
	}
	return hclog.Off
}

func (l *logger) StandardLogger(opts *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(l.StandardWriter(opts), "", 0)
}

func (l *logger) StandardWriter(opts *hclog.StandardLoggerOptions) io.Writer {
	w := &writer{
		l:     l,
		lines: l.log.WithOptions(nib.WithLevel(levelOf(hclog.NoLevel))),
		final: l.log.WithOptions(nib.WithLevel(nib.Level(math.MaxInt))).StdLog(nib.LevelInfo).
			Writer(),
	}
	if opts != nil {
		w.opts = *opts
	}
	return w
}

// A writer receives the output of package log, one message per call, with the
// level as a prefix if the options request it.
type writer struct {
	l     *logger
	lines *nib.Logger // writes all levels: l has checked the level
	final io.Writer   // writes only lines of log.Fatal and log.Panic
	opts  hclog.StandardLoggerOptions
}

// prefixes are those that hclog recognizes.
var prefixes = []struct {
	text  string
	level hclog.Level
}{
	{"[TRACE]", hclog.Trace}, {"[DEBUG]", hclog.Debug}, {"[INFO]", hclog.Info},
	{"[WARN]", hclog.Warn},
	{"[ERROR]", hclog.Error}, {"[ERR]", hclog.Error},
}

// Write calls the writer of nib's StdLog, which finds the call site and
// recognizes the lines of log.Fatal and log.Panic. These are written whatever
// the level.
func (w *writer) Write(p []byte) (int, error) {
	msg, level := strings.TrimRight(string(p), " \t\n"), hclog.Info
	if w.opts.InferLevels && w.opts.InferLevelsWithTimestamp && w.opts.ForceLevel == hclog.NoLevel {
		msg = strings.TrimLeft(msg, timestamp)
	}
	if w.opts.InferLevels || w.opts.ForceLevel != hclog.NoLevel {
		for _, prefix := range prefixes {
			if rest, ok := strings.CutPrefix(msg, prefix.text); ok {
				msg, level = strings.TrimSpace(rest), prefix.level
				break
			}
		}
	}
	if w.opts.ForceLevel != hclog.NoLevel {
		level = w.opts.ForceLevel
	}
	to := w.final
	if w.l.enabled(level) {
		to = w.lines.StdLog(levelOf(level)).Writer()
	}
	_, _ = to.Write([]byte(msg))
	return len(p), nil
}

// timestamp is the set of characters that hclog accepts as a time before a
// level: the range from + to T is from its regular expression.
var timestamp = func() string {
	chars := []byte(" \t\n\f\r:/.Z")
	for c := byte('+'); c <= 'T'; c++ {
		chars = append(chars, c)
	}
	return string(slices.Compact(chars))
}()
