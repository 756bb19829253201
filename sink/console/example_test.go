// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"errors"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/console"
)

func Example() {
	log := nib.NewSink(console.New(os.Stdout, console.Config{TimeZone: time.UTC}), nib.WithClock(func() time.Time {
		return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	}))
	log.Named("db").Info().Str("host", "10.0.0.7").Int("size", 16).Msg("connected")
	log.Error().Err(errors.New("card declined")).Int("user", 42).Msg("payment failed")
	log.Warn().Str("user", "eve\n15:04:06.000 INFO  forged").Msg("login failed")
	// Output:
	// 15:04:05.000 INFO  db: connected                             host=10.0.0.7 size=16
	// 15:04:05.000 ERROR payment failed                            error="card declined" user=42
	// 15:04:05.000 WARN  login failed                              user="eve\n15:04:06.000 INFO  forged"
}

// Lines that were written as JSON are shown in the same way.
func ExampleSink_Render() {
	view := console.New(os.Stdout, console.Config{TimeZone: time.UTC})
	line := []byte(`{"time":"2026-01-02T15:04:05.000Z","level":"info","user":{"id":7,"name":"Ann Lee"},"message":"hello"}`)
	os.Stdout.Write(view.Render(nil, line))
	// Output:
	// 15:04:05.000 INFO  hello                                     user={id=7 name="Ann Lee"}
}
