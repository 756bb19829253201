// SPDX-License-Identifier: Apache-2.0

// Package lastresort tells of errors where nobody has asked to be told: on
// standard error, one line a second at most.
package lastresort

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

var stderr = &limited{w: os.Stderr, now: time.Since, start: time.Now()}

// Report writes err to standard error, or counts it if there was a line within
// the last second; the next line says how many were not shown. It never waits for
// another goroutine's report and may be called by any number at once.
func Report(err error) { stderr.report(err) }

type limited struct {
	w     io.Writer
	now   func(since time.Time) time.Duration
	start time.Time

	next       atomic.Int64 // when the next line may be written, nanoseconds after start
	suppressed atomic.Int64
}

func (l *limited) report(err error) {
	now, next := int64(l.now(l.start)), l.next.Load()
	if now < next || !l.next.CompareAndSwap(next, now+int64(time.Second)) {
		l.suppressed.Add(1)
		return
	}
	if n := l.suppressed.Swap(0); n > 0 {
		err = fmt.Errorf("%w (and %d more errors before it)", err, n)
	}
	fmt.Fprintln(l.w, err)
}
