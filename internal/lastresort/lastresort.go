// SPDX-License-Identifier: Apache-2.0

// Package lastresort reports errors for which the program has set no handler,
// on standard error, at most one line a second.
//
// Standard error may be blocked, closed, or the same pipe as standard output.
// So a separate goroutine writes, through package stdio, and callers wait for
// it for at most a tenth of a second. There is no goroutine while there is
// nothing to write.
package lastresort

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/stdio"
	"github.com/nib-log/nib/internal/usercode"
)

const (
	// interval is the minimum time between two lines.
	interval = time.Second

	// Wait is the maximum time that a call waits for standard error.
	Wait = stdio.Stall
)

var stderr = newReporter(func(text []byte) error { return stdio.WriteTo(os.Stderr, text, Wait) })

// Report writes err to standard error. Within a second of the last line it
// delays err: the next line, at the end of that second, shows the newest error
// and the number of the others. Report returns within [Wait], and at once while
// standard error is blocked. Methods of err run on another goroutine, where a
// panic does not affect the caller.
func Report(err error) { stderr.report(err) }

// Flush writes the delayed error, if any, after the line that is being written,
// and returns within twice [Wait]. It is for the end of a process.
func Flush() { stderr.flush() }

// Write writes text to standard error without a rate limit, and returns within
// [Wait].
func Write(text string) {
	usercode.Receive(stderr.show(func() string { return text }, func(error) {}), Wait)
}

type reporter struct {
	write func([]byte) error
	now   func() time.Duration // time since some moment in the past

	mu      sync.Mutex
	next    time.Duration // time from which the next line may be written
	busy    bool          // a line is being written
	written chan struct{} // closed when the line is written
	failing bool          // the last line could not be written
	kept    uint64        // errors that were not shown
	newest  error         // the last of these errors
	timer   bool          // a timer is set to write these errors
}

func newReporter(write func([]byte) error) *reporter {
	start := time.Now()
	return &reporter{write: write, now: func() time.Duration { return time.Since(start) }}
}

func (r *reporter) report(err error) {
	r.mu.Lock()
	r.kept++
	r.newest = err
	left := r.next - r.now()
	if left > interval {
		left = 0 // a test has replaced the clock
	}
	if r.busy || left > 0 {
		if !r.timer {
			r.timer = true
			time.AfterFunc(max(left, interval/100), r.late)
		}
		r.mu.Unlock()
		return
	}
	r.writeKept()
}

// late runs when the next line may be written.
func (r *reporter) late() {
	r.mu.Lock()
	r.timer = false
	r.writeKept()
}

// flush writes the delayed errors now.
func (r *reporter) flush() {
	r.mu.Lock()
	if r.busy && !r.failing {
		written := r.written
		r.mu.Unlock()
		usercode.Receive(written, Wait)
		r.mu.Lock()
	}
	r.writeKept()
}

// writeKept writes the errors that were not shown, if there are any and no
// other line is being written, and unlocks mu.
func (r *reporter) writeKept() {
	if r.kept == 0 || r.busy {
		r.mu.Unlock()
		return
	}
	err, n := r.newest, r.kept
	r.kept, r.newest, r.busy = 0, nil, true
	r.next = r.now() + interval
	failing := r.failing
	done := r.show(func() string { return textOf(err, n-1) }, func(failure error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy, r.failing = false, failure != nil
		if r.failing {
			r.kept += n
			if r.newest == nil {
				r.newest = err
			}
		}
	})
	r.written = done
	r.mu.Unlock()
	if !failing {
		usercode.Receive(done, Wait)
	}
}

// show writes a text on another goroutine, calls then with the result, and
// closes done.
func (r *reporter) show(text func() string, then func(error)) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		then(r.write(printable(textWithin(text))))
	}()
	return done
}

// maxStuck is the maximum number of blocked calls for a text.
const maxStuck = 16

var stuck atomic.Int32

// textWithin returns a text. of is user code: it may panic, end its goroutine,
// or not return. That must not prevent other errors from being shown.
func textWithin(of func() string) string {
	const hangs = "nib: an error whose Error method does not return"
	if stuck.Add(1) > maxStuck {
		stuck.Add(-1)
		return hangs
	}
	got := make(chan string, 1)
	go func() {
		text := "nib: an error whose Error method panics, or ends its goroutine"
		defer func() {
			_ = recover() // there is nowhere left to report it
			stuck.Add(-1)
			got <- text
		}()
		text = of()
	}()
	if text, ok := usercode.Receive(got, interval); ok {
		return text
	}
	return hangs
}

// textOf returns the text of err, and the number of errors that were not shown
// before it.
func textOf(err error, others uint64) string {
	text := fmt.Sprint(err) // catches a panic of Error
	switch others {
	case 0:
		return text
	case 1:
		return text + " (and 1 more error before it)"
	}
	return fmt.Sprintf("%s (and %d more errors before it)", text, others)
}

// maxText is the maximum length of a text, so that a pipe takes all of it or
// nothing.
const maxText = 4000

// printable returns text with a newline at its end, cut off after maxText
// bytes, and without control characters that a terminal interprets.
func printable(text string) []byte {
	text = strings.TrimSuffix(text, "\n")
	b := make([]byte, 0, len(text)+1)
	for _, c := range text { // U+FFFD for a byte that is not UTF-8
		if len(b) > maxText {
			b = append(b, "…"...)
			break
		}
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			b = fmt.Appendf(b, `\x%02x`, c)
		} else {
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '\n')
}
