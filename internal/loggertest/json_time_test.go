// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/recordtest"
)

// zone loads a zone, or skips the test where the machine has no zone data.
func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		tb.Skipf("no time zone data: %v", err)
	}
	return loc
}

func hostileTimes(tb testing.TB) []time.Time {
	berlin := zone(tb, "Europe/Berlin")
	odd := time.FixedZone("odd\"\x1b", 12*3600+34*60+56)
	times := []time.Time{
		{}, time.Unix(0, 0), time.Unix(-1, 999_999_999), time.Unix(0, 1), time.Unix(1, 0), testTime, aTime,
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(123456, 7, 8, 9, 10, 11, 12, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 12, 31, 23, 0, 0, 5, time.UTC),
		time.Date(-99999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1677, 9, 21, 0, 12, 43, 0, time.UTC), time.Date(2262, 4, 11, 23, 47, 17, 0, time.UTC),
		time.Date(2026, 3, 29, 1, 59, 59, 999_000_000, berlin), time.Date(2026, 3, 29, 3, 0, 0, 0, berlin),
		time.Unix(1792890000-1, 0).In(berlin), time.Unix(1792890000, 0).In(berlin), time.Date(2024, 2, 29, 12, 0, 0, 0, odd),
	}
	return times
}

var timeFormats = []string{
	"", time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05.000000000Z07:00", "2006-01-02T15:04:05.999Z07:00", time.RFC1123Z, time.ANSIC, time.Kitchen,
	"2006-01-02 \"15:04:05\" \x1b MST", "Monday \u202e Jan _2 002 .000000", nib.TimeUnix, nib.TimeUnixMilli, nib.TimeUnixMicro, nib.TimeUnixNano,
}

// timeText formats t with package time or arithmetic without limits.
func timeText(t time.Time, format string) string {
	digits, unix := map[string]int{nib.TimeUnix: 0, nib.TimeUnixMilli: 3, nib.TimeUnixMicro: 6, nib.TimeUnixNano: 9}[format]
	if !unix {
		if format == "" {
			format = "2006-01-02T15:04:05.000Z07:00"
		}
		return t.Format(format)
	}
	n := big.NewInt(t.Unix())
	n.Mul(n, big.NewInt(1e9)).Add(n, big.NewInt(int64(t.Nanosecond())))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(9-digits)), nil)
	return n.Div(n, unit).String() // Euclidean, so rounded down
}

func TestTimesAreWrittenAsPackageTimeFormatsThem(t *testing.T) {
	zones := []*time.Location{nil, time.UTC, zone(t, "Asia/Tokyo"), zone(t, "Europe/Berlin"), time.FixedZone("x", -45296)}
	for _, format := range timeFormats {
		for _, z := range zones {
			for _, keep := range []bool{false, true} {
				var now time.Time
				l, c := newCapture(t, nib.WithClock(func() time.Time { return now }),
					nib.WithLayout(nib.Layout{TimeFormat: format, TimeZone: z, KeepZone: keep}))
				for _, now = range hostileTimes(t) {
					shown := now
					if !keep && z != nil {
						shown = now.In(z)
					} else if !keep {
						shown = now.UTC()
					}
					want := timeText(shown, format)
					l.Info().Time("a", now).Times("b", []time.Time{now}).Any("c", now).Array("d", func(a *nib.Array) { a.Time(now) }).Send()
					l.Entry(nib.Entry{Time: now.Add(0)}).Send()
					for i, line := range c.take() {
						checkTime(t, line, now, want, format, i)
					}
				}
			}
		}
	}
}

func checkTime(t *testing.T, line *node, now time.Time, want, format string, i int) {
	t.Helper()
	got := line.get("time")
	if i == 1 && now.IsZero() {
		if got != nil {
			t.Errorf("an Entry without a time shows %s", got)
		}
		return
	}
	for _, key := range []string{"time", "a", "b", "c", "d"} {
		v := line.get(key)
		if i == 1 && key != "time" {
			continue
		}
		if key == "b" || key == "d" {
			v = v.kids[0]
		}
		if kind := v.kind == '0'; v.text != want || kind != strings.HasPrefix(format, "UNIX") {
			t.Errorf("%v in format %q, key %s\n got %s\nwant %s", now, format, key, v, want)
		}
	}
}

func TestChangesOfTheUTCOffsetAreShown(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, change := range []time.Time{
		time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC),
	} {
		now := change.Add(-2 * time.Second)
		l, c := newCapture(t, nib.WithClock(func() time.Time { return now }), nib.WithLayout(nib.Layout{TimeZone: berlin}))
		for range 40 {
			l.Info().Send()
			want := now.In(berlin).Format("2006-01-02T15:04:05.000Z07:00")
			if got := c.one().get("time"); got.text != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			now = now.Add(100 * time.Millisecond)
		}
	}
}

// Lines of two loggers with layouts that differ only in the time share pooled
// events, and must not share the times cached in them.
func TestLayoutsDoNotShareTheCachedSecond(t *testing.T) {
	tokyo := zone(t, "Asia/Tokyo")
	now := testTime
	clock := nib.WithClock(func() time.Time { return now })
	layouts := []nib.Layout{{}, {TimeZone: tokyo}, {TimeFormat: time.RFC3339}, {TimeFormat: nib.TimeUnixNano}, {TimeFormat: nib.TimeUnix}, {TimeFormat: time.RFC3339Nano, TimeZone: tokyo}}
	var loggers []*nib.Logger
	var captures []*capture
	for _, layout := range layouts {
		l, c := newCapture(t, clock, nib.WithLayout(layout))
		loggers, captures = append(loggers, l), append(captures, c)
	}
	for range 50 {
		for i, l := range loggers {
			l.Info().Send()
			shown := now
			if layouts[i].TimeZone != nil {
				shown = now.In(layouts[i].TimeZone)
			}
			if got, want := captures[i].one().get("time"), timeText(shown, layouts[i].TimeFormat); got.text != want {
				t.Errorf("layout %d\n got %s\nwant %s", i, got, want)
			}
		}
		now = now.Add(333 * time.Millisecond)
	}
}

// The built-in clock must agree with the time of the machine, in every layout
// that shows enough of it.
func TestBuiltInClockShowsTheSystemTime(t *testing.T) {
	const slack = time.Minute // in case the clock is set during the test
	for _, layout := range []nib.Layout{{}, {TimeFormat: time.RFC3339Nano}, {TimeFormat: time.RFC3339, KeepZone: true}, {TimeZone: time.FixedZone("x", 12345), TimeFormat: time.RFC1123Z}} {
		format := layout.TimeFormat
		if format == "" {
			format = time.RFC3339
		}
		l, c := newCapture(t, nib.WithClock(nil), nib.WithLayout(layout))
		for range 200 {
			before := time.Now()
			l.Info().Send()
			l.Named("n").Warn().Send()
			for _, line := range c.take() {
				got, err := time.Parse(format, line.get("time").text)
				if err != nil || got.Sub(before).Abs() > slack {
					t.Errorf("format %q\n got %v, %v\nwant about %v", format, got, err, before)
				}
			}
		}
	}
}

func TestRecordTimeSaturates(t *testing.T) {
	var now time.Time
	s := new(recordtest.Recorder)
	l := nib.NewSink(s, nib.WithClock(func() time.Time { return now }))
	for _, x := range []struct {
		now  time.Time
		want int64
	}{
		{time.Unix(0, 0), 0}, {testTime, testTime.UnixNano()}, {time.Unix(-5, 5), -5_000_000_000 + 5},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 1<<63 - 1}, {time.Time{}, -1 << 63}, {time.Date(-500, 1, 1, 0, 0, 0, 0, time.UTC), -1 << 63},
	} {
		now = x.now
		l.Info().Send()
		if got := last(s).Time; got != x.want {
			t.Errorf("%v\n got %d\nwant %d", now, got, x.want)
		}
	}
}
