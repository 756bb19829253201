// SPDX-License-Identifier: Apache-2.0

package spools

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink/spool"
)

func TestEveryContestantStoresItsLines(t *testing.T) {
	for _, s := range append(Scenarios(), Latency) {
		for _, c := range s.Contestants {
			run, err := s.Start(&c)
			if err != nil {
				t.Fatalf("%s, %s: %v", s.Name, c.Name, err)
			}
			run.Do(1000)
			if err := errors.Join(run.Check(), run.Close()); err != nil {
				t.Errorf("%s, %s: %v", s.Name, c.Name, err)
			}
		}
	}
}

func TestSustainedRoundsAreLongAndFew(t *testing.T) {
	short, long := Scenario{}, Scenario{Times: 1000, Rounds: 5}
	for _, x := range []struct{ got, want int }{
		{short.Lines(10_000), 10_000}, {short.Limit(40), 40},
		{long.Lines(10_000), 10_000_000}, {long.Limit(40), 5}, {long.Limit(1), 1},
	} {
		if x.got != x.want {
			t.Errorf("got %d, want %d", x.got, x.want)
		}
	}
}

func TestLineHas200Bytes(t *testing.T) {
	if len(Line) != 200 || bytes.IndexByte(Line, '\n') != 199 {
		t.Errorf("%d bytes: %q", len(Line), Line)
	}
}

// The check must be able to fail.
func TestLossesAreNoticed(t *testing.T) {
	var down nibtest.Recorder
	down.FailWith(errors.New("down"))
	s, err := spool.Open("", &down, spool.Config{Size: 128 << 10, SegmentSize: 64 << 10, Drain: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		_ = s.WriteRecord(&nib.Record{Line: Line}) // until it is full
	}
	go s.Close()
	if err := noneLost(s)(); err == nil || !strings.Contains(err.Error(), "lost") && !errors.Is(err, spool.ErrPending) {
		t.Errorf("got %v, want a complaint", err)
	}
}
