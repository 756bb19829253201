// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"time"
)

// progress shows on one line of a terminal what is being done, and nothing
// anywhere else.
type progress struct {
	w     io.Writer
	began time.Time
	shown bool
	off   bool
}

func newProgress(w io.Writer, plain bool) *progress {
	isTerminal, _ := terminal(w)
	return &progress{w: w, began: time.Now(), off: plain || !isTerminal}
}

// Sequences of terminals: to the start of the line, and clear to its end.
const restart = "\r\x1b[K"

func (p *progress) say(what string) {
	if p.off {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "%s\x1b[2m%4.0f s  %s\x1b[0m", restart, time.Since(p.began).Seconds(), what)
}

func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.w, restart)
	}
}
