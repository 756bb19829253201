// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package loggertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
)

// The test uses the clock of a synctest bubble, so seconds pass at once.
func TestBuiltInClockAdvancesOverSeconds(t *testing.T) {
	// The digits after the milliseconds are not compared: the clock may be a
	// little off, and 450 µs keep that from reaching the millisecond.
	for format, digits := range map[string]int{"": 99, time.RFC3339: 99, time.RFC3339Nano: len("2000-01-01T00:00:00.333"), nib.TimeUnix: 99, nib.TimeUnixMilli: 99,
		nib.TimeUnixMicro: 12, nib.TimeUnixNano: 12, time.RFC1123: 99} {
		for _, z := range []*time.Location{nil, time.FixedZone("z", -5400)} {
			synctest.Test(t, func(t *testing.T) {
				l, c := newCapture(t, nib.WithClock(nil), nib.WithLayout(nib.Layout{TimeFormat: format, TimeZone: z}))
				await.Sleep(time.Hour + 450*time.Microsecond)
				for range 30 {
					await.Sleep(333 * time.Millisecond)
					now := time.Now().UTC()
					if z != nil {
						now = now.In(z)
					}
					l.Info().Send()
					got, want := c.one().get("time").text, timeText(now, format)
					if n := min(digits, len(got), len(want)); got[:n] != want[:n] {
						t.Errorf("format %q\n got %s\nwant %s", format, got, want)
					}
				}
			})
		}
	}
}
