// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/sink/console"
)

// A window shows the first few lines and skips the others. Only one goroutine
// shows lines.
type window struct {
	w    io.Writer
	view *console.Sink
	left int
	full chan struct{} // closed when all of them have been shown
}

func newWindow(w io.Writer, size int, s term.Style) *window {
	color := console.ColorNever
	if s.On {
		color = console.ColorAlways
	}
	v := &window{w: w, left: size, full: make(chan struct{})}
	v.view = console.New(w, console.Config{Color: color, MessageWidth: len(accessMessage), Durations: []string{"took"}})
	if size == 0 {
		close(v.full)
	}
	return v
}

func (v *window) show(line []byte) {
	if v.left == 0 {
		return
	}
	_, _ = v.w.Write(v.view.Render(nil, line)) // the report will fail as well
	if v.left--; v.left == 0 {
		close(v.full)
	}
}
