// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// A spoolOfNothing is a Spool without segments, which reading panics on.
type spoolOfNothing struct {
	Spool
	sync.Mutex
	reports chan error
	faults  chan error
}

func (s *spoolOfNothing) Lock()                    { s.Mutex.Lock() }
func (s *spoolOfNothing) Unlock()                  { s.Mutex.Unlock() }
func (s *spoolOfNothing) NextNumber() uint64       { return 1 }
func (s *spoolOfNothing) From(*Link) []*Link       { return nil }
func (s *spoolOfNothing) Report(_ string, e error) { s.reports <- e }
func (s *spoolOfNothing) Fault(_ string, e error)  { s.faults <- e }

// TestPanicOfADeliveryIsReported has a delivery that panics itself, whenever it
// reads: it is reported with its stack, tried again, and ends with the spool.
func TestPanicOfADeliveryIsReported(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	s := &spoolOfNothing{reports: make(chan error, 1), faults: make(chan error, 1)}
	d := New(s, Options{Context: ctx, Label: "test", Tick: time.Nanosecond}, nil)
	done := make(chan struct{})
	go d.Run(func() { close(done) })
	for range 3 {
		if err := <-s.reports; !strings.Contains(err.Error(), "nil pointer") || !strings.Contains(err.Error(), "fillOne") {
			t.Errorf("got %v, want the panic and its stack", err)
		}
		s.Lock()
		d.outage.reported = time.Time{} // an hour later
		s.Unlock()
	}
	stop()
	if err := <-s.faults; !strings.Contains(err.Error(), "abandon") {
		t.Errorf("got %v, want the panic of the end", err)
	}
	<-done
	if d.Failures < 3 {
		t.Errorf("got %d failures, want at least 3", d.Failures)
	}
}
