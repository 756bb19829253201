// SPDX-License-Identifier: Apache-2.0

//go:build race || invariants

package loggertest_test

import (
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

//go:noinline
func finishForTheFirstTime(e *nib.Event) { e.Msg("first") }

func TestStaleUseReportsTheStackOfTheFirstMsg(t *testing.T) {
	for _, m := range stale() {
		if uncounted[m.name] {
			continue
		}
		l, c := newCapture(t)
		e := l.Info()
		finishForTheFirstTime(e)
		for range 10 { // never used again for another line
			if l.Info() == e {
				t.Fatal("the event has been given out again")
			}
		}
		m.add(e, "k")
		c.one()
		errs := c.takeErrors()
		if len(errs) == 0 {
			t.Errorf("%s after Msg is not reported", m.name)
			continue
		}
		what, ended, _ := strings.Cut(errs[0].Error(), "; it was finished by\n")
		if what == "nib: " || !strings.Contains(ended, "finishForTheFirstTime") ||
			!strings.Contains(ended, "misuse_invariants_test.go:") {
			t.Errorf("%s after Msg\n got %v\nwant the stack of the first Msg", m.name, errs[0])
		}
		if l.Stats().Misused == 0 {
			t.Errorf("%s after Msg is not counted", m.name)
		}
	}
}

// A sink that keeps the line finds it overwritten at once.
func TestRetainedLinesArePoisoned(t *testing.T) {
	var kept []byte
	s := sinkFunc(func(r *nib.Record) error { kept = r.Line; return nil })
	nib.NewSink(s).Info().Msg("m")
	if strings.Contains(string(kept), "message") {
		t.Errorf("got %q", kept)
	}
}
