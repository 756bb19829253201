// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// The mallocs of the whole process are counted. Rounds are so short that some
// have none of the broker's and the spool's.
const rounds, callsPerRound = 70, 500

// away is a destination that is down, so that only calls are measured.
type away struct{}

func (away) Deliver(ctx context.Context, _ []nib.Record) (delivery.Result, error) {
	<-ctx.Done()
	return delivery.Result{}, context.Cause(ctx)
}

// measure returns time and mallocs of a call that logs the access line of the
// run into a spool, when the load is over: the minimum of several rounds. The
// garbage collector is off, since its own mallocs would be counted.
func measure(dir string) (took time.Duration, mallocs float64, err error) {
	s, err := spool.Open(dir, away{}, spool.Config{
		Drain: time.Millisecond, Size: 16 << 20, OnFull: waitForDisk,
		OnError: func(error) {}, // nothing is delivered by design
	})
	if err != nil {
		return 0, 0, err
	}
	log := nib.NewSink(s)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for round := range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range callsPerRound {
			log.Info().Str("method", http.MethodGet).Str("path", "/items/4711").
				Int("status", 200).Int64("bytes", 240).Dur("took", 23_456*time.Nanosecond).
				Str("remote", "127.0.0.1:54321").Str("request_id", "c3-4711").Msg(accessMessage)
		}
		d := time.Since(start) / callsPerRound
		runtime.ReadMemStats(&after)
		m := float64(after.Mallocs-before.Mallocs) / callsPerRound
		if round == 0 {
			took, mallocs = d, m
		}
		took, mallocs = min(took, d), min(mallocs, m)
	}
	_ = s.Close() // what cannot be delivered stays in the directory
	return took, mallocs, nil
}
