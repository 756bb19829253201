// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package lastresort

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
)

// The process ends after Flush.
func TestFlushWaitsForTheLineThatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newScreen()
		hold := make(chan struct{})
		s.set(func(s *screen) { s.hold = hold })
		go r.report(errors.New("first"))
		synctest.Wait()
		go r.report(errors.New("second"))
		synctest.Wait()
		flushed := make(chan struct{})
		go func() {
			r.flush()
			close(flushed)
		}()
		synctest.Wait()
		close(hold)
		<-flushed
		if got, want := s.take(), "first\nsecond\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestKeptErrorsAreShownLater checks that delayed errors are shown without a
// further error.
func TestKeptErrorsAreShownLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			show func(*reporter)
		}{
			{"when the second is over", (*reporter).late}, {"at the end", (*reporter).flush},
		} {
			s, r := newScreen()
			r.report(errors.New("first"))
			synctest.Wait()
			s.take()
			for n := range 3 {
				r.report(fmt.Errorf("error %d", n))
			}
			if !r.timer {
				t.Errorf("%s: no timer is set", c.name)
			}
			for range 2 { // the second time there is nothing
				c.show(r)
				synctest.Wait()
			}
			if got, want := s.take(), "error 2 (and 2 more errors before it)\n"; got != want {
				t.Errorf("%s: got %q, want %q", c.name, got, want)
			}
		}
	})
}

// TestFailingStandardErrorIsNotWaitedFor checks that writes resume once they
// succeed.
func TestFailingStandardErrorIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newScreen()
		s.fail = errors.New("full")
		r.report(errors.New("first"))
		synctest.Wait()
		s.set(func(s *screen) { s.at, s.hold = time.Second, make(chan struct{}) })
		r.report(errors.New("second")) // returns, though the write does not
		r.report(errors.New("third"))
		s.set(func(s *screen) { s.fail = nil; close(s.hold); s.hold = nil })
		synctest.Wait()
		s.set(func(s *screen) { s.at = time.Minute })
		r.report(errors.New("fourth"))
		synctest.Wait()
		if got, want := s.take(), "second (and 1 more error before it)\nfourth (and 1 more error before it)\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

type textual struct{ text func() string }

func (e textual) Error() string { return e.text() }

// TestTextIsUserCode has errors whose Error method misbehaves.
func TestTextIsUserCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newScreen()
		for n, err := range []error{
			textual{func() string { panic("boom") }},
			textual{func() string { runtime.Goexit(); return "" }},
			(*textual)(nil),
			textual{func() string { r.report(errors.New("inner")); return "outer" }},
		} {
			s.set(func(s *screen) { s.at = time.Duration(n) * time.Hour })
			r.report(err)
			synctest.Wait()
		}
		s.set(func(s *screen) { s.at = time.Hour * 100 })
		r.report(errors.New("last"))
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "outer") || !strings.HasSuffix(got, "last (and 1 more error before it)\n") {
			t.Errorf("got %q", got)
		}
	})
}

// TestTextThatIsNeverMade has errors whose Error method does not return: others
// are shown.
func TestTextThatIsNeverMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newScreen()
		release := make(chan struct{})
		defer close(release)
		from := time.Now()
		r.report(textual{func() string { <-release; return "" }})
		if took := time.Since(from); took != Wait {
			t.Errorf("the caller waited for %v, want %v", took, Wait)
		}
		await.Sleep(interval)
		s.set(func(s *screen) { s.at = time.Hour })
		r.report(errors.New("other"))
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "does not return") || !strings.HasSuffix(got, "\nother\n") {
			t.Errorf("got %q", got)
		}
	})
}
