// SPDX-License-Identifier: Apache-2.0

//go:build !race && !invariants

package loggertest_test

import (
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// In this build an idle event has no logger: the call is counted but not
// reported.
func TestStaleUseIsCountedWithoutAReport(t *testing.T) {
	for _, m := range stale() {
		l, c := newCapture(t)
		e := l.Info()
		e.Msg("first")
		m.add(e, "k")
		c.one()
		if errs := c.takeErrors(); len(errs) != 0 {
			t.Errorf("%s after Msg\n got %v", m.name, errs)
		}
	}
}

func TestMisuseOfALiveEventIsReported(t *testing.T) {
	l, c := newCapture(t)
	l.Info().Func(func(e *nib.Event) { e.Send() }).Msg("m")
	c.one()
	errs := c.takeErrors()
	if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "nib: ") ||
		strings.Contains(errs[0].Error(), "finished by") {
		t.Errorf("got %v", errs)
	}
}
