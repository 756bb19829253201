// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package loggertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
)

// The test uses the clock of a synctest bubble, so the deadline passes at once.
func TestFatalExitsWhenTheFlushHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		start := time.Now()
		c := &capture{tb: t}
		s := newFlushSink(func(context.Context) error { <-release; return nil })
		exits := 0
		l := nib.NewSink(s, nib.WithErrorHandler(c.fail), nib.WithExit(func(int) { exits++ }))
		l.Fatal().Msg("m")
		if waited := time.Since(start); exits != 1 || waited != 5*time.Second {
			t.Errorf("got %d exits after %v, want one after 5s", exits, waited)
		}
		if errs := c.takeErrors(); len(errs) != 1 {
			t.Errorf("got %v", errs)
		}
		close(release)
	})
}
