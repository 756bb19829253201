// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"bytes"
	"log"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/internal/usercode"
)

// StdLog returns a standard logger whose lines become lines of l at level, for
// libraries that take a *log.Logger. With [WithCaller] they show the call site
// of log's function. Lines of its Fatal and Panic methods have LevelFatal or
// LevelPanic and are written whatever the level of l, and the sink is flushed,
// because package log then ends the process.
//
// A sink, hook or error handler of l may itself print to that logger while
// package log holds its lock. So unless the sink cannot log, as a file cannot,
// lines are written on another goroutine, and package log continues without the
// line after 100 ms (5 s for Fatal and Panic).
func (l *Logger) StdLog(level Level) *log.Logger {
	return log.New(stdWriter{l, level}, "", 0)
}

// A stdWriter takes what package log writes: one message a call.
type stdWriter struct {
	l     *Logger
	level Level
}

func (w stdWriter) Write(p []byte) (int, error) {
	l := w.l
	if l.discards() {
		return len(p), nil
	}
	level, final := w.level, true
	pc, ends := callsite.StdLog(ownPrefix)
	switch ends {
	case callsite.Exits:
		level = LevelFatal
	case callsite.Panics:
		level = LevelPanic
	default:
		final = false
	}
	if !final && (l.isOff(level) || !l.admits(level)) {
		return len(p), nil
	}
	c := l.core
	msg := string(bytes.TrimSuffix(p, []byte{'\n'}))
	e := l.begin(level, 0, &origin{c.site(pc), &msg})
	if level >= c.stackFrom {
		e.Stack() // here, not on the goroutine that finishes the line
	}
	finish := func() {
		e.finish(msg, plainMessage)
		if final {
			l.flushFinal()
		}
	}
	if c.neverLogs() {
		finish()
	} else if !usercode.Run(finish, c.waitLimit(final)) {
		e.release()
		c.state.reentrant.Add(1)
	}
	return len(p), nil
}

// waitLimit returns how long package log waits for a line. If the writer itself
// prints to the logger, that is short: its line is written after the current
// one.
func (c *core) waitLimit(final bool) time.Duration {
	const short = 100 * time.Millisecond
	inWriter := c.out.lines != nil && linewriter.Writing()
	switch {
	case final && !inWriter:
		return finalFlush
	case !final && inWriter:
		return 0
	}
	return short
}

// neverLogs reports whether no user code runs while a line is written.
func (c *core) neverLogs() bool {
	o := &c.out
	runsNoUserCode := o.neverLogs || o.discard != nil || o.lines != nil && o.lines.IsFile()
	return runsNoUserCode && len(c.hooks) == 0 && c.onError == nil
}
