// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package setup

import (
	"testing"
	"testing/synctest"
)

// Files that are renamed while they are reopened are reopened once more,
// however many signals arrive.
func TestHangupsDuringAReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, goOn := 0, make(chan bool)
		reopen := func() error { runs++; <-goOn; return nil }
		s := &signals{log: &Log{outputs: []*output{{name: "file", reopen: reopen}}}}
		hangup := func(signals, want int) {
			t.Helper()
			for range signals {
				s.reopenFiles()
			}
			synctest.Wait()
			if runs != want {
				t.Errorf("got %d runs, want %d", runs, want)
			}
		}
		hangup(1, 1)
		hangup(3, 1) // the first run goes on
		goOn <- true
		hangup(0, 2)
		goOn <- true
		hangup(0, 2)
		hangup(1, 3) // later
		goOn <- true
	})
}
