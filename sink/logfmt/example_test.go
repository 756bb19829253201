// SPDX-License-Identifier: Apache-2.0

package logfmt_test

import (
	"errors"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/logfmt"
)

func Example() {
	log := nib.NewSink(logfmt.New(os.Stdout, logfmt.Config{}), nib.WithClock(func() time.Time {
		return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	}))
	log.Named("db").Info().Str("host", "10.0.0.7").Int("size", 16).Msg("connected")
	log.Error().Err(errors.New("card declined")).Any("user", map[string]any{"id": 7, "tags": []string{"new"}}).Msg("payment failed")
	log.Warn().Str("user", "eve\nlevel=fatal").Str("level", "forged").Msg("login failed")
	// Output:
	// time=2026-01-02T15:04:05.000Z level=info logger=db host=10.0.0.7 size=16 message=connected
	// time=2026-01-02T15:04:05.000Z level=error error="card declined" user.id=7 user.tags="[\"new\"]" message="payment failed"
	// time=2026-01-02T15:04:05.000Z level=warn user="eve\nlevel=fatal" field.level=forged message="login failed"
}

// Lines that were written as JSON are shown as logfmt.
func ExampleSink_Render() {
	view := logfmt.New(os.Stdout, logfmt.Config{KeepObjects: true})
	os.Stdout.Write(view.Render(nil, []byte(`{"level":"info","user":{"id":7},"message":"hello"}`)))
	// Output:
	// level=info user="{\"id\":7}" message=hello
}
