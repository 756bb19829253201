// SPDX-License-Identifier: Apache-2.0

package niblogr

import (
	"context"
	"log/slog"
	"math"
	"strings"

	"github.com/go-logr/logr"
	"github.com/nib-log/nib"
)

var (
	_ logr.LogSink          = (*sink)(nil)
	_ logr.CallDepthLogSink = (*sink)(nil)
	_ logr.SlogSink         = (*sink)(nil)
)

// New returns a logr.Logger that writes through l. A nil l discards. It
// supports WithCallDepth, and logr.ToSlogHandler without loss of groups and
// levels.
func New(l *nib.Logger) logr.Logger { return logr.New(&sink{log: l}) }

// A sink writes the lines of a logr.Logger. It is immutable except for Init.
type sink struct {
	log   *nib.Logger
	own   int // frames of logr between its user and the sink
	depth int // further frames, set by WithCallDepth
}

// Init is called by logr.New.
func (s *sink) Init(info logr.RuntimeInfo) { s.own = info.CallDepth }

// levelOf returns nib's level for a V-level of logr.
func levelOf(v int) nib.Level { return nib.LevelInfo - nib.Level(min(max(v, 0), math.MaxInt32)) }

// Enabled reports whether the level of the Logger, or its rule for the name,
// lets the V-level pass. V(0) stands for all levels of slog from info to error,
// for which logr.ToSlogHandler asks: it is enabled if one of them is.
func (s *sink) Enabled(v int) bool {
	if v <= 0 {
		return s.log.Enabled(nib.LevelError - 1)
	}
	return s.log.Enabled(levelOf(v))
}

// Info writes one line, without the newline that klog's Infof and similar
// functions leave at the end of the message. Only the level of V(0) is checked
// again: logr has called Enabled. For plain values, only logr's API allocates.
func (s *sink) Info(v int, msg string, keysAndValues ...any) {
	if v <= 0 && !s.log.Enabled(nib.LevelInfo) {
		return
	}
	e := s.log.AtDepth(levelOf(v), s.own+s.depth+1)
	add(e, keysAndValues)
	e.Msg(strings.TrimSuffix(msg, "\n"))
}

// Error writes one line at nib.LevelError, whatever the level of the Logger.
func (s *sink) Error(err error, msg string, keysAndValues ...any) {
	e := s.log.AtDepth(nib.LevelError, s.own+s.depth+1)
	if err != nil {
		e.Err(err)
	}
	add(e, keysAndValues)
	e.Msg(strings.TrimSuffix(msg, "\n"))
}

// WithValues returns a sink whose lines all have these fields, which it encodes
// once.
func (s *sink) WithValues(keysAndValues ...any) logr.LogSink {
	return s.with(s.log.With(func(e *nib.Event) { add(e, keysAndValues) }))
}

// WithName returns a sink whose name is the name of s, a dot, and name.
func (s *sink) WithName(name string) logr.LogSink { return s.with(s.log.Named(name)) }

// WithCallDepth returns a sink whose call sites are depth frames further up.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	n := *s
	n.depth += depth
	return &n
}

// Handle writes a record of a slog.Logger made with logr.ToSlogHandler.
func (s *sink) Handle(ctx context.Context, r slog.Record) error {
	if level := nib.Level(r.Level); level < nib.LevelError && !s.log.Enabled(level) {
		return nil
	}
	e := s.log.Entry(
		nib.Entry{Time: r.Time, Level: nib.Level(r.Level), PC: r.PC, Message: r.Message}).Ctx(ctx)
	r.Attrs(func(a slog.Attr) bool {
		e.Attrs(a)
		return true
	})
	e.Send()
	return nil
}

// WithAttrs is WithValues for slog.
func (s *sink) WithAttrs(attrs []slog.Attr) logr.SlogSink {
	return s.with(s.log.WithAttrs(attrs...))
}

// WithGroup returns a sink that puts all further fields into an object.
func (s *sink) WithGroup(name string) logr.SlogSink { return s.with(s.log.WithGroup(name)) }

func (s *sink) with(l *nib.Logger) *sink {
	n := *s
	n.log = l
	return &n
}
