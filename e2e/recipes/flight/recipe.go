// SPDX-License-Identifier: Apache-2.0

package flight

import (
	"context"
	"log/slog"
	"os"
	"runtime/trace"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
)

// Policy saves the execution trace before a request failed or was slow, at most
// once a minute: the event has the name of the file, for go tool trace.
func Policy(dir string, slow time.Duration) (*request.Policy, error) {
	recorder := trace.NewFlightRecorder(
		trace.FlightRecorderConfig{MinAge: 10 * time.Second, MaxBytes: 16 << 20})
	if err := recorder.Start(); err != nil {
		return nil, err
	}
	var last time.Time // OnFailure does not run twice at a time
	return request.New(request.Config{Slow: slow, OnFailure: func(ctx context.Context) {
		if time.Since(last) < time.Minute {
			return
		}
		last = time.Now()
		f, err := os.CreateTemp(dir, "*.trace")
		if err == nil {
			defer f.Close()
			_, err = recorder.WriteTo(f)
		}
		if err != nil {
			request.Add(ctx, func(e *nib.Event) { e.AnErr("execution_trace_error", err) })
			return
		}
		request.AddAttrs(ctx, slog.String("execution_trace", f.Name()))
	}}), nil
}
