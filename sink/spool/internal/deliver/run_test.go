// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestPanicOfADeliveryIsReported has a delivery that panics itself, whenever it
// reads: it is reported with its stack, tried again, and ends with the spool.
func TestPanicOfADeliveryIsReported(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	reports, faults := make(chan error, 1), make(chan error, 1)
	s := &spoolOfNothing{report: func(err error) { reports <- err }, fault: func(err error) { faults <- err }}
	d := New(s, Options{Context: ctx, Label: "test", Tick: time.Nanosecond}, nil)
	done := make(chan struct{})
	go d.Run(func() { close(done) })
	for range 3 {
		if err := <-reports; !strings.Contains(err.Error(), "nil pointer") || !strings.Contains(err.Error(), "fillOne") {
			t.Errorf("got %v, want the panic and its stack", err)
		}
		s.Lock()
		d.outage.reported = time.Time{} // an hour later
		s.Unlock()
	}
	stop()
	if err := <-faults; !strings.Contains(err.Error(), "abandon") {
		t.Errorf("got %v, want the panic of the end", err)
	}
	<-done
	if d.Failures < 3 {
		t.Errorf("got %d failures, want at least 3", d.Failures)
	}
}
