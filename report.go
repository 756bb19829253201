// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"sync/atomic"

	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/metrics"
)

// Stats counts the failures of a logger and all loggers that share its sink.
type Stats struct {
	Failed    uint64 // lines the sink or writer returned an error for
	Reentrant uint64 // lines dropped because their own sink logged them without end
	Aborted   uint64 // lines lost because user code ended the goroutine (runtime.Goexit) halfway
	Misused   uint64 // wrong calls on events of this logger, and on idle events of any logger
}

// Stats returns the counts so far. It may be called at any time.
func (l *Logger) Stats() Stats {
	if l.discards() {
		return Stats{}
	}
	s := l.core.state
	stats := Stats{
		Failed:    s.failed.Load(),
		Reentrant: s.reentrant.Load(),
		Aborted:   s.aborted.Load(),
		Misused:   s.misused.Load() + idleLogger.core.state.misused.Load(),
	}
	if w := l.core.out.lines; w != nil {
		failed, aborted := w.Lost()
		stats.Failed, stats.Aborted = stats.Failed+failed, stats.Aborted+aborted
	}
	return stats
}

// Metrics implements [metrics.Source] for l and all loggers that share its
// sink. It includes the metrics of the sink, if the sink is a Source. Names of
// the logger's own metrics begin with nib_logger_ and, without a Sink,
// nib_writer_.
func (l *Logger) Metrics() iter.Seq[metrics.Metric] {
	var m metrics.Samples
	s := l.Stats()
	m.Counter("nib_logger_failed_lines_total",
		"Lines that the sink or writer returned an error for.", float64(s.Failed))
	m.Counter("nib_logger_reentrant_lines_total",
		"Lines dropped because their own sink logged them without end.", float64(s.Reentrant))
	m.Counter("nib_logger_aborted_lines_total",
		"Lines dropped because user code ended the goroutine.", float64(s.Aborted))
	m.Counter("nib_logger_misused_events_total", "Calls on finished events.", float64(s.Misused))
	if l.discards() {
		return m.Metrics()
	}
	next := metrics.Of(l.core.out.sink)
	if lines := l.core.out.lines; lines != nil {
		next = lines
	}
	return func(yield func(metrics.Metric) bool) {
		for _, s := range []metrics.Source{m, next} {
			for v := range s.Metrics() {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// state has the counters of Stats, and the numbers of calls in progress.
type state struct {
	failed, reentrant, aborted, misused atomic.Uint64

	inside    atomic.Int32 // calls of a sink in progress
	reporting atomic.Int32 // calls of the error handler in progress
}

// idleLogger is the logger of the events in the pool, and counts calls on them,
// and of the events of a nil Logger.
var idleLogger = &Logger{min: minLevel, core: &core{state: new(state), stackFrom: math.MaxInt}}

// prepareIdle completes idleLogger, once: newLogger calls it, and passSpecial
// for a nil Logger. A program that imports nib and does not log does not need
// it.
var prepareIdle func() // set by init in logger.go

// discards reports whether l is nil or the zero Logger.
func (l *Logger) discards() bool { return l == nil || l.core == nil }

// misused counts a wrong call and reports it, unless it was on an idle event of
// a release build, whose logger is idleLogger.
func (e *Event) misused(what string) {
	c := e.log.core
	c.state.misused.Add(1)
	if e.log != idleLogger {
		text := "nib: " + what
		if ended := e.ended.String(); ended != "" { // only with -race or the tag invariants
			text += "; it was finished by\n" + ended
		}
		c.report(errors.New(text))
	}
}

// report calls the error handler with err, unless this goroutine is in it
// already: then err is only counted.
//
//go:noinline
func (c *core) report(err error) {
	defer func() {
		c.state.reporting.Add(-1)
		_ = recover() // a panic of the handler
	}()
	if c.state.reporting.Add(1) > 1 && usercode.Frames((*core).report) > 1 {
		return
	}
	if c.onError != nil {
		c.onError(err)
		return
	}
	lastresort.Report(err)
}

// callUser runs user code that adds nothing to an event:
//
//	f                                     done   err
//	returns                               true   nil
//	panics                                false  describes the panic
//	would call itself again, by logging   false  nil; f does not run
//	ends the goroutine                    callUser calls lost and does not return
//
//go:noinline
func callUser(what string, lost, f func()) (done bool, err error) {
	under, n := usercode.Enter(usercode.Settings)
	defer under.Leave()
	if n > maxLines && under.Correct(usercode.FramesNamed(ownPrefix, "callUser")-1) >= maxLines {
		return false, nil
	}
	orLost(lost, func() {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("nib: %s panicked: %s", what, usercode.PanicText(p))
			}
		}()
		f()
		done = true
	})
	return done, err
}

// orLost calls f, and lost if user code ends the goroutine in f.
func orLost(lost, f func()) {
	done := false
	defer func() {
		if !done {
			lost()
		}
	}()
	f()
	done = true
}

// callReported is callUser, and reports a panic. If the error handler ends the
// goroutine, it calls lost, too.
func (c *core) callReported(what string, lost, f func()) (done bool) {
	orLost(lost, func() {
		var err error
		if done, err = callUser(what, func() {}, f); err != nil { // orLost calls lost
			c.report(err)
		}
	})
	return done
}

// lose counts a line that is lost because user code ended the goroutine.
func (s *state) lose() { s.aborted.Add(1) }

// A userLeveler recovers panics of a Leveler of the program. A Leveler that
// panics enables every level.
type userLeveler struct {
	core *core
	of   slog.Leveler
}

// Level returns the level of the guarded Leveler.
func (u *userLeveler) Level() (level slog.Level) {
	level = slog.Level(minLevel)
	u.core.callReported("the leveler", u.core.state.lose, func() { level = u.of.Level() })
	return level
}

// guardLeveler puts a userLeveler around a Leveler that may fail.
func (l *Logger) guardLeveler() {
	switch v := l.leveler.(type) {
	case nil, *LevelVar, *slog.LevelVar:
	case *userLeveler:
		l.leveler = &userLeveler{l.core, v.of}
	default:
		l.leveler = &userLeveler{l.core, v}
	}
}

// sample calls the sampler. If the sampler panics, the event passes.
func (l *Logger) sample(s Sampler, level Level) (keep bool) {
	keep = true
	l.core.callReported("the sampler", l.core.state.lose, func() { keep = s.Sample(level) })
	return keep
}
