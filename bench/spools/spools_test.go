// SPDX-License-Identifier: Apache-2.0

package spools

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink/spool"
)

// The check must be able to fail.
func TestLossesAreNoticed(t *testing.T) {
	var down nibtest.Recorder
	down.FailWith(errors.New("down"))
	s, err := spool.Open("", &down, spool.Config{Size: 128 << 10, SegmentSize: 64 << 10, Drain: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		_ = s.WriteRecord(&nib.Record{Line: line}) // until it is full
	}
	go s.Close()
	if err := noneLost(s)(); err == nil || !strings.Contains(err.Error(), "lost") && !errors.Is(err, spool.ErrPending) {
		t.Errorf("got %v, want a complaint", err)
	}
}
