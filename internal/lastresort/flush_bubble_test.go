// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package lastresort

import (
	"errors"
	"testing"
	"testing/synctest"
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
