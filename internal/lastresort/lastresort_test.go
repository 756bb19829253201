// SPDX-License-Identifier: Apache-2.0

package lastresort

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A screen keeps what is written to it, unless it fails.
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

// take returns what was written since the last time.
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

// TestKeptErrorsAreShownLater checks that delayed errors are shown without a
// further error.
func TestKeptErrorsAreShownLater(t *testing.T) {
	for _, c := range []struct {
		name string
		show func(*reporter)
	}{
		{"when the second is over", (*reporter).late}, {"at the end", (*reporter).flush},
	} {
		s, r := newScreen()
		r.report(errors.New("first"))
		r.idle()
		s.take()
		for n := range 3 {
			r.report(fmt.Errorf("error %d", n))
		}
		if !r.timer {
			t.Errorf("%s: no timer is set", c.name)
		}
		for range 2 { // the second time there is nothing
			c.show(r)
			r.idle()
		}
		if got, want := s.take(), "error 2 (and 2 more errors before it)\n"; got != want {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestNoReportIsForgotten(t *testing.T) {
	s, r := newScreen()
	r.timer = true
	const reports = 1000
	var wg sync.WaitGroup
	for range reports {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r.report(errors.New("e"))
		}()
	}
	wg.Wait()
	r.idle()
	if lines := strings.Count(s.take(), "\n"); lines != 1 || r.kept != reports-1 {
		t.Errorf("%d lines and %d kept back of %d reports, want 1 and the rest", lines, r.kept, reports)
	}
}

// TestFailingStandardErrorIsNotWaitedFor checks that writes resume once they
// succeed.
func TestFailingStandardErrorIsNotWaitedFor(t *testing.T) {
	s, r := newScreen()
	s.fail = errors.New("full")
	r.report(errors.New("first"))
	r.idle()
	s.set(func(s *screen) { s.at, s.hold = time.Second, make(chan struct{}) })
	r.report(errors.New("second")) // returns, though the write does not
	r.report(errors.New("third"))
	s.set(func(s *screen) { s.fail = nil; close(s.hold); s.hold = nil })
	r.idle()
	s.set(func(s *screen) { s.at = time.Minute })
	r.report(errors.New("fourth"))
	r.idle()
	if got, want := s.take(), "second (and 1 more error before it)\nfourth (and 1 more error before it)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
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

type textual struct{ text func() string }

func (e textual) Error() string { return e.text() }

// TestTextIsUserCode has errors whose Error method misbehaves.
func TestTextIsUserCode(t *testing.T) {
	s, r := newScreen()
	for n, err := range []error{
		textual{func() string { panic("boom") }},
		textual{func() string { runtime.Goexit(); return "" }},
		(*textual)(nil),
		textual{func() string { r.report(errors.New("inner")); return "outer" }},
	} {
		s.set(func(s *screen) { s.at = time.Duration(n) * time.Hour })
		r.report(err)
		r.idle()
	}
	s.set(func(s *screen) { s.at = time.Hour * 100 })
	r.report(errors.New("last"))
	r.idle()
	if got := s.take(); !strings.Contains(got, "outer") || !strings.HasSuffix(got, "last (and 1 more error before it)\n") {
		t.Errorf("got %q", got)
	}
}

// TestTextThatIsNeverMade has errors whose Error method does not return: others
// are shown.
func TestTextThatIsNeverMade(t *testing.T) {
	s, r := newScreen()
	release := make(chan struct{})
	defer close(release)
	from := time.Now()
	r.report(textual{func() string { <-release; return "" }})
	if took := time.Since(from); took > interval {
		t.Errorf("the caller waited for %v, want %v", took, Wait)
	}
	r.idle()
	s.set(func(s *screen) { s.at = time.Hour })
	r.report(errors.New("other"))
	r.idle()
	if got := s.take(); !strings.Contains(got, "does not return") || !strings.HasSuffix(got, "\nother\n") {
		t.Errorf("got %q", got)
	}
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
