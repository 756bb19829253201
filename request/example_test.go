// SPDX-License-Identifier: Apache-2.0

package request_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
)

// The event of a job, with fields from the functions that it calls, and the
// debug lines of a failed job.
func Example() {
	var clock nibtest.Clock // stands still, so that the output is known
	log := nib.New(os.Stdout, nib.WithClock(clock.Now), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	policy := request.New(request.Config{
		Slow:      time.Minute,
		Backtrace: sink.Backtrace(log.Sink(), sink.BacktraceConfig{}),
	})
	for _, rows := range []int{3, 0} {
		var r request.Request
		r.Start(context.Background(), policy, log, "r1", "")
		err := tidy(&r, rows)
		if e := r.End(request.Outcome{Failed: err != nil}); e != nil {
			e.Err(err)
			r.AddFields(e)
			e.Msg("tidied")
		}
	}
	// Output:
	// {"level":"info","error":null,"rows":3,"message":"tidied"}
	// {"level":"debug","request_id":"r1","message":"looking","backtrace":true}
	// {"level":"info","error":"no rows","rows":0,"message":"tidied"}
}

func tidy(ctx context.Context, rows int) error {
	nib.FromContext(ctx).Debug().Msg("looking")
	request.AddAttrs(ctx, slog.Int("rows", rows))
	if rows == 0 {
		return errors.New("no rows")
	}
	return nil
}

func ExamplePolicy_Run() {
	log := nib.New(os.Stdout)
	jobs := request.New(request.Config{Slow: time.Minute, Sample: 10})
	err := jobs.Run(context.Background(), log, "send invoices", func(ctx context.Context) error {
		request.Add(ctx, func(e *nib.Event) { e.Int("invoices", 12) })
		fmt.Fprintln(os.Stderr, "the id of this job:", request.FromContext(ctx).ID())
		return nil
	})
	fmt.Fprintln(os.Stderr, err)
}
