// SPDX-License-Identifier: Apache-2.0

package lastresort

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestOneLineASecond(t *testing.T) {
	var out bytes.Buffer
	var now time.Duration
	l := &limited{w: &out, now: func(time.Time) time.Duration { return now }}
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
		{time.Hour, "sixth", "sixth (and 1 more errors before it)\n"},
		{2 * time.Hour, "seventh", "seventh\n"},
	} {
		out.Reset()
		now = step.at
		l.report(errors.New(step.err))
		if got := out.String(); got != step.want {
			t.Errorf("%s after %v\n got %q\nwant %q", step.err, step.at, got, step.want)
		}
	}
}

func TestNoReportIsForgotten(t *testing.T) {
	var out bytes.Buffer
	l := &limited{w: &out, now: func(time.Time) time.Duration { return 0 }}
	const reports = 1000
	var wg sync.WaitGroup
	for range reports {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.report(errors.New("e"))
		}()
	}
	wg.Wait()
	if lines, held := bytes.Count(out.Bytes(), []byte("\n")), l.suppressed.Load(); lines != 1 || held != reports-1 {
		t.Errorf("%d lines and %d held back of %d reports, want 1 and the rest", lines, held, reports)
	}
}
