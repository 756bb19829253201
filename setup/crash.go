// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/crashtext"
	"github.com/nib-log/nib/internal/usercode"
)

// panicLine makes the line for a panic on this goroutine, whose frames are
// still on the stack, and returns a function that writes it; nil if the monitor
// does.
func (l *Log) panicLine(p any) (write func()) {
	if l.monitor != nil {
		return nil
	}
	e := l.At(nib.LevelPanic)
	if e.Enabled() {
		addBuild(e.Stack())
		e.Int("pid", os.Getpid())
	}
	return func() {
		text := ""
		defer func() { e.Msg("panic: " + text) }()
		usercode.TakePanicText(&text, p)
	}
}

// writeCrash writes the text that the monitor has read as a line of l, whose
// layout has no key for stacks.
func writeCrash(l *nib.Logger, stackKey string, pid int, text *crashtext.Text) {
	level := nib.LevelFatal
	if text.IsPanic() {
		level = nib.LevelPanic
	}
	e := l.At(level)
	addBuild(e.Str(stackKey, text.String()))
	e.Int("pid", pid).Msg(text.Message())
}

// withoutStackKey frees the key for stacks, for the stack of another process,
// and returns it.
func withoutStackKey(l nib.Layout) (_ nib.Layout, key string) {
	key = l.StackKey
	if key == "" || key == nib.OmitKey {
		key = "stack"
	}
	l.StackKey = nib.OmitKey
	return l, key
}
