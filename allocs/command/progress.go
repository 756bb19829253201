// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib/allocs/internal/progress"
)

// bar shows the progress of the work: on a terminal one line that is written
// over, elsewhere a line from time to time. It never writes to standard output.
type bar struct {
	mu      sync.Mutex
	w       io.Writer
	width   func() int // returns the width of the terminal; nil if w is not one
	now     func() time.Time
	color   bool
	began   time.Time
	wrote   time.Time // the last line, where w is not a terminal
	event   progress.Event
	shown   string // the text on the current line of the terminal
	visible bool
	stopped chan struct{}
}

const (
	redraw = 200 * time.Millisecond // interval at which the line is redrawn, so that the elapsed time advances
	pause  = 5 * time.Second        // interval between lines elsewhere
	length = 24                     // columns of the bar
)

// newBar returns the bar for w, or nil, which shows nothing, if plain is set.
// The caller must call stop.
func newBar(w io.Writer, plain, color bool) *bar {
	if plain {
		return nil
	}
	b := &bar{w: w, now: time.Now, color: color, stopped: make(chan struct{})}
	if ok, _ := terminal(w); ok {
		b.width = func() int { _, n := terminal(w); return n }
	}
	b.start()
	if b.width != nil {
		go b.tick()
	}
	return b
}

func (b *bar) start() {
	b.began = b.now()
	b.wrote = b.began
}

// tick draws the line again while a long stage runs.
func (b *bar) tick() {
	t := time.NewTicker(redraw)
	defer t.Stop()
	for {
		select {
		case <-b.stopped:
			return
		case <-t.C:
			b.mu.Lock()
			b.draw()
			b.mu.Unlock()
		}
	}
}

// tell sets the current event.
func (b *bar) tell(e progress.Event) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.event, b.visible = e, true
	if b.width != nil {
		b.draw()
		return
	}
	if now := b.now(); now.Sub(b.wrote) >= pause {
		b.wrote = now
		fmt.Fprintf(b.w, "allocs: %3.0f %%  %s  %s\n", 100*e.Done, clock(now.Sub(b.began)), doing(e))
	}
}

// stop removes the line. Nothing is drawn after it returns.
func (b *bar) stop() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.stopped:
		return
	default:
		close(b.stopped)
	}
	if b.shown != "" {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.visible = false
}

// draw writes the line if it has changed: in one piece, from the left, and
// clearing only the rest of the line, so that nothing flickers.
func (b *bar) draw() {
	if !b.visible {
		return
	}
	line := b.line(b.width())
	if line != b.shown {
		b.shown = line
		fmt.Fprint(b.w, "\r"+line+"\x1b[K")
	}
}

// line returns a line of the given width: bar, part, time and the current step.
// Narrow terminals have no bar.
func (b *bar) line(width int) string {
	if width <= 0 {
		width = 80
	}
	width-- // some terminals wrap when the last column is written
	figures := fmt.Sprintf("%3.0f %%  %s", 100*b.event.Done, clock(b.now().Sub(b.began)))
	what := doing(b.event)
	var out string
	if room := width - len(figures) - 4; room >= length+20 {
		full := int(float64(length)*b.event.Done + 0.5)
		out = b.paint("36", strings.Repeat("━", full)) + b.paint("2", strings.Repeat("─", length-full)) + "  "
		width -= length + 2
	}
	if room := width - len(figures) - 2; room > 4 {
		return out + figures + "  " + b.paint("2", keepEnd(what, room))
	}
	return out + keepEnd(figures, width)
}

func (b *bar) paint(code, text string) string {
	if !b.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// doing describes an event in words.
func doing(e progress.Event) string {
	text := string(e.Stage)
	if e.Subject != "" {
		text += " " + e.Subject
	}
	if e.Toolchain != "" {
		text = e.Toolchain + "  " + text
	}
	return text
}

// keepEnd cuts a text to a number of columns in its middle: a stage is
// recognised by its beginning and a package by its end.
func keepEnd(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	if most < 1 {
		return ""
	}
	head := (most - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-1-head):])
}

// clock formats a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
