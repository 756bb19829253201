// SPDX-License-Identifier: Apache-2.0

package spool_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink/spool"
)

// A printer is a destination for the example; sink/file has a real one.
type printer struct{}

func (printer) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	for _, r := range batch {
		if _, err := os.Stdout.Write(r.Line); err != nil {
			return delivery.Result{}, err // all of it again, later
		}
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

func Example() {
	s, err := spool.Open("", printer{}, spool.Config{
		OnFull: []spool.FullRule{{From: nib.LevelError, Do: spool.ActionDropOld}}, // and below, new lines are dropped
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	log := nib.NewSink(s, nib.WithClock(func() time.Time { return time.Unix(0, 0).UTC() }))
	log.Info().Str("to", "world").Msg("hello")
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	st := s.Stats()
	fmt.Println(st.Logged == st.Delivered+st.Pending+st.Lost())
	// Output:
	// {"time":"1970-01-01T00:00:00.000Z","level":"info","to":"world","message":"hello"}
	// true
}

// Each destination gets all lines, at its own pace.
func ExampleOpen_severalDestinations() {
	var archive nibtest.Recorder
	s, err := spool.Open("", printer{}, spool.Config{
		Also: []spool.NamedDestination{{Name: "archive", To: &archive}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	log := nib.NewSink(s, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	log.Info().Msg("hello")
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(archive.Len(), "archived")
	// Output:
	// {"level":"info","message":"hello"}
	// 1 archived
}
