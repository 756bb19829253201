// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"log"
	"strings"
)

// StdLog returns a standard logger whose lines become lines of l at level, for
// libraries that take a *log.Logger. With [WithCaller] they show the call site
// of log's function.
func (l *Logger) StdLog(level Level) *log.Logger {
	return log.New(stdWriter{l, level}, "", 0)
}

// A stdWriter takes what package log writes: one message a call.
type stdWriter struct {
	l     *Logger
	level Level
}

func (w stdWriter) Write(p []byte) (int, error) {
	if !w.l.Enabled(w.level) {
		return len(p), nil
	}
	n := len(p)
	if n > 0 && p[n-1] == '\n' {
		p = p[:n-1]
	}
	e := w.l.event(w.level, 0)
	if e != nil && w.l.core.caller {
		e.setCaller(firstPC(isOutsideLog))
	}
	e.MsgFunc(func() string { return string(p) })
	return n, nil
}

// isOutsideLog reports whether a function is neither nib's nor of package log.
func isOutsideLog(function string) bool {
	return !strings.HasPrefix(function, ownPrefix) && !strings.HasPrefix(function, "log.")
}
