// SPDX-License-Identifier: Apache-2.0

package lastresort

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
)

// A screen keeps the written text, unless it fails.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	fail error
	hold chan struct{} // not nil: a write waits for it
	at   time.Duration // the time
}

func (s *screen) write(b []byte) error {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.text.Write(b)
	}
	return s.fail
}

func (s *screen) set(f func(*screen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// take returns the text written since the last time.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text.String()
	s.text.Reset()
	return text
}

func (s *screen) now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func newScreen() (*screen, *reporter) {
	s := &screen{}
	r := newReporter(s.write)
	r.now = s.now
	return s, r
}

// idle waits until no line is being written.
func (r *reporter) idle() {
	for busy := true; busy; runtime.Gosched() {
		r.mu.Lock()
		busy = r.busy
		r.mu.Unlock()
	}
}

func TestOneLineASecond(t *testing.T) {
	s, r := newScreen()
	r.timer = true // as if one were set: this tests late
	for _, step := range []struct {
		at   time.Duration
		err  string
		want string
	}{
		{0, "first", "first\n"},
		{time.Millisecond, "second", ""},
		{time.Second - 1, "third", ""},
		{time.Second, "fourth", "fourth (and 2 more errors before it)\n"},
		{1500 * time.Millisecond, "fifth", ""},
		{time.Hour, "sixth", "sixth (and 1 more error before it)\n"},
		{2 * time.Hour, "seventh", "seventh\n"},
	} {
		s.set(func(s *screen) { s.at = step.at })
		r.report(errors.New(step.err))
		r.idle()
		if got := s.take(); got != step.want {
			t.Errorf("%s after %v\n got %q\nwant %q", step.err, step.at, got, step.want)
		}
	}
}

func TestNoReportIsForgotten(t *testing.T) {
	s, r := newScreen()
	r.timer = true
	const reports = 1000
	await.Goroutines(reports, func(int) {
		r.report(errors.New("e"))
	})
	r.idle()
	if lines := strings.Count(s.take(), "\n"); lines != 1 || r.kept != reports-1 {
		t.Errorf("%d lines and %d kept back of %d reports, want 1 and the rest", lines, r.kept, reports)
	}
}

// TestStuckStandardErrorIsWaitedForOnce has a write that does not return.
func TestStuckStandardErrorIsWaitedForOnce(t *testing.T) {
	s, r := newScreen()
	s.hold = make(chan struct{})
	defer close(s.hold)
	for n := range 1000 { // or this takes 100 s
		s.set(func(s *screen) { s.at = time.Duration(n) * time.Hour })
		r.report(errors.New("e"))
	}
	if r.kept != 999 {
		t.Errorf("%d are kept back, want 999", r.kept)
	}
	r.flush()
}

func TestTextIsPrintable(t *testing.T) {
	long := strings.Repeat("ä", maxText)
	for _, c := range []struct{ text, want string }{
		{"plain", "plain\n"},
		{"two\nlines\twide\n", "two\nlines\twide\n"},
		{"\x1b]0;title\x07\r", `\x1b]0;title\x07\x0d` + "\n"},
		{"\u009b1m\x7f", `\x9b1m\x7f` + "\n"},
		{"a\xffb", "a\uFFFDb\n"},
		{long, long[:maxText+2] + "…\n"},
	} {
		if got := string(printable(c.text)); got != c.want || len(got) > 4096 {
			t.Errorf("%.40q: got %.40q of %d bytes, want %.40q", c.text, got, len(got), c.want)
		}
	}
}
