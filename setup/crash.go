// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/panictext"
)

// panicLine makes the line for a panic on this goroutine, whose frames are still
// there, and returns what writes it.
func panicLine(l *nib.Logger, p any) (send func()) {
	e := l.At(nib.LevelPanic)
	if e.Enabled() {
		addCrash(e.Stack())
	}
	text := "panic: " + panictext.Of(p)
	return func() { e.Msg(text) }
}

// addCrash adds what all lines of crashes have, but for the stack.
func addCrash(e *nib.Event) *nib.Event {
	addBuild(e)
	return e.Int("pid", os.Getpid())
}

// writeCrash writes what the monitor has read as a line of l, whose layout is
// the one that is given, less its key for stacks.
func writeCrash(l *nib.Logger, stackKey string, pid int, text *crashText) {
	level := nib.LevelFatal
	if text.isPanic() {
		level = nib.LevelPanic
	}
	e := l.At(level)
	addBuild(e.Str(stackKey, text.String()))
	e.Int("pid", pid).Msg(text.message())
}

// withoutStackKey frees the key for stacks, under which the stack of another
// process is to stand, and returns it.
func withoutStackKey(l nib.Layout) (_ nib.Layout, key string) {
	key = l.StackKey
	if key == "" || key == nib.OmitKey {
		key = "stack"
	}
	l.StackKey = nib.OmitKey
	return l, key
}
