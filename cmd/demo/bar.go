// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
)

// A bar shows the progress of the load, on a terminal only. It redraws one line
// and removes it at the end.
type bar struct {
	w     io.Writer
	fd    int
	s     term.Style
	total int64
	done  *atomic.Int64
	start time.Time

	mu    sync.Mutex // serializes writes
	drawn bool       // the line is shown

	quit chan struct{}
	wg   sync.WaitGroup
}

const (
	redraw = 100 * time.Millisecond
	erase  = "\r\x1b[K"
)

// startBar draws nothing until begin is closed, so that the bar does not appear
// between other lines.
func startBar(w io.Writer, total int64, done *atomic.Int64, begin <-chan struct{}) *bar {
	b := &bar{w: w, total: total, done: done, start: time.Now(), s: term.StyleFor(w), quit: make(chan struct{})}
	fd, ok := term.Terminal(w)
	if !ok || os.Getenv("TERM") == "dumb" {
		return b
	}
	b.fd = fd
	b.wg.Add(1)
	go b.run(begin)
	return b
}

// stop ends the bar's goroutine.
func (b *bar) stop() {
	close(b.quit)
	b.wg.Wait()
}

// say writes a line to w in place of the bar, which is drawn again below it.
func (b *bar) say(w io.Writer, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	fmt.Fprintln(w, line)
}

// erase removes the line. mu is held.
func (b *bar) erase() {
	if b.drawn {
		fmt.Fprint(b.w, erase)
		b.drawn = false
	}
}

func (b *bar) run(begin <-chan struct{}) {
	defer b.wg.Done()
	select {
	case <-begin:
	case <-b.quit:
		return
	}
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.erase()
	}()
	for {
		b.mu.Lock()
		fmt.Fprint(b.w, erase+b.picture(b.done.Load(), time.Since(b.start), term.Width(b.fd)))
		b.drawn = true
		b.mu.Unlock()
		select {
		case <-tick.C:
		case <-b.quit:
			return
		}
	}
}

// picture returns the bar, at most width-1 columns wide.
func (b *bar) picture(done int64, took time.Duration, width int) string {
	rate := float64(done) / max(took.Seconds(), 1e-3)
	text := fmt.Sprintf(" %3d %%  %s of %s  %s/s", 100*done/b.total, term.Count(done), term.Count(b.total), term.Count(int64(rate)))
	size := min(width-1-len(text)-2, 40)
	if size < 5 {
		return text[:max(0, min(len(text), width-1))]
	}
	full := int(int64(size) * done / b.total)
	return "  " + b.s.Good(strings.Repeat("━", full)) + b.s.Dim(strings.Repeat("─", size-full)) + text
}
