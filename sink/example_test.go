// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"bytes"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
)

// noTime keeps the lines of the examples the same.
var noTime = nib.WithClock(func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) })

// Everything goes to standard output, warnings and errors to a second writer as
// well.
func Example() {
	var alarms bytes.Buffer
	s := sink.Tee(
		nib.WriterSink(os.Stdout),
		sink.Route(sink.Discard(), sink.AtLeast(nib.LevelWarn, nib.WriterSink(&alarms))),
	)
	log := nib.NewSink(s, noTime)
	log.Info().Msg("started")
	log.Error().Msg("disk full")
	os.Stdout.WriteString("alarms: " + alarms.String())
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","message":"started"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"error","message":"disk full"}
	// alarms: {"time":"2026-01-02T15:04:05.000Z","level":"error","message":"disk full"}
}

// Health checks are not worth a line.
func ExampleFilter() {
	s := sink.Filter(nib.WriterSink(os.Stdout), func(r *nib.Record) bool {
		path, _ := r.Lookup("path")
		return string(path) != `"/healthz"`
	})
	log := nib.NewSink(s, noTime)
	log.Info().Str("path", "/healthz").Msg("served")
	log.Info().Str("path", "/users").Msg("served")
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","path":"/users","message":"served"}
}
