// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/sink/console"
)

// shown is the number of lines that are shown.
const shown = 8

// A screen writes what happens: the first lines, kills, and below them, on a
// terminal, the progress.
type screen struct {
	mu       sync.Mutex
	w        io.Writer
	style    term.Style
	fd       int
	terminal bool
	view     *console.Sink
	left     int // lines to be shown
	bar      bool
	start    time.Time
	next     time.Time // when the bar is drawn again
}

func newScreen(w io.Writer) *screen {
	s := &screen{w: w, style: term.StyleFor(w), left: shown, start: time.Now()}
	s.fd, s.terminal = term.Terminal(w)
	s.terminal = s.terminal && os.Getenv("TERM") != "dumb"
	color := console.ColorNever
	if s.style.On {
		color = console.ColorAlways
	}
	s.view = console.New(w, console.Config{
		Color: color, MessageWidth: len(accessMessage), Durations: []string{"took"},
	})
	return s
}

// print writes text in place of the bar, which is drawn again below it.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar {
		text, s.bar = "\r\x1b[K"+text, false
	}
	fmt.Fprint(s.w, text)
}

// show writes one of the first lines.
func (s *screen) show(line []byte) {
	text := s.view.Render(nil, line)
	s.mu.Lock()
	s.left--
	s.mu.Unlock()
	s.print(string(text))
}

// progress draws the bar, below the first lines.
func (s *screen) progress(done, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.terminal || s.left > 0 || now.Before(s.next) {
		return
	}
	s.bar, s.next = true, now.Add(100*time.Millisecond)
	took := now.Sub(s.start)
	fmt.Fprint(s.w, "\r\x1b[K"+picture(s.style, done, total, took, term.Width(s.fd)))
}

// picture returns the bar, at most width-1 columns wide.
func picture(s term.Style, done, total int, took time.Duration, width int) string {
	rate := float64(done) / max(took.Seconds(), 1e-3)
	text := fmt.Sprintf(" %3d %%  %s of %s  %s/s", 100*done/total, term.Count(done),
		term.Count(total), term.Count(int(rate)))
	size := min(width-1-len(text)-2, 40)
	if size < 5 {
		return text[:max(0, min(len(text), width-1))]
	}
	full := size * done / total
	rest := s.Dim(strings.Repeat("─", size-full))
	return "  " + s.Good(strings.Repeat("━", full)) + rest + text
}
