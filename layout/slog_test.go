// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/layout"
)

// slogLine returns the line of slog's own handler for a record.
func slogLine(t *testing.T, source bool, r slog.Record) string {
	t.Helper()
	var b bytes.Buffer
	h := slog.NewJSONHandler(&b, &slog.HandlerOptions{AddSource: source, Level: slog.LevelDebug - 4})
	must.Succeed(t, h.Handle(context.Background(), r))
	return b.String()
}

func attrs(r slog.Record) (as []slog.Attr) {
	r.Attrs(func(a slog.Attr) bool { as = append(as, a); return true })
	return as
}

func TestSlogWritesTheBytesOfSlog(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	odd := time.FixedZone("", -(3*3600 + 30*60))
	at := func(t time.Time, l nib.Level, msg string, as ...slog.Attr) slog.Record {
		r := slog.NewRecord(t, l.Level(), msg, 0)
		r.AddAttrs(as...)
		return r
	}
	for _, tt := range []struct {
		name string
		r    slog.Record
	}{
		{"message", at(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), nib.LevelInfo, "hello")},
		{"no message", at(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), nib.LevelInfo, "")},
		{"no time", at(time.Time{}, nib.LevelInfo, "hello")},
		{"nanoseconds in Tokyo", at(time.Date(2026, 1, 2, 15, 4, 5, 123456789, tokyo), nib.LevelInfo, "hello")},
		{"tenths in an odd zone", at(time.Date(1999, 12, 31, 23, 59, 59, 1e8, odd), nib.LevelInfo, "hello")},
		{"year 1", at(time.Date(1, 2, 3, 4, 5, 6, 7, time.UTC), nib.LevelInfo, "hello")},
		{"year 9999", at(time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), nib.LevelInfo, "hello")},
		{"trace", at(time.Time{}, nib.LevelTrace, "m")},
		{"debug", at(time.Time{}, nib.LevelDebug, "m")},
		{"info+2", at(time.Time{}, nib.LevelInfo+2, "m")},
		{"warn", at(time.Time{}, nib.LevelWarn, "m")},
		{"error", at(time.Time{}, nib.LevelError, "m")},
		{"panic", at(time.Time{}, nib.LevelPanic, "m")},
		{"fatal", at(time.Time{}, nib.LevelFatal, "m")},
		{"far out", at(time.Time{}, nib.LevelFatal+5000, "m")},
		{"fields", at(time.Time{}, nib.LevelInfo, "m", slog.String("a", "b"), slog.Int("n", -1),
			slog.Duration("d", 1500*time.Microsecond), slog.Time("t", time.Date(2026, 1, 2, 15, 4, 5, 60, tokyo)),
			slog.Group("g", slog.Bool("b", true)))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			l := nib.New(&b, nib.WithLayout(layout.Slog()))
			l.Entry(nib.Entry{Time: tt.r.Time, Level: nib.Level(tt.r.Level), Message: tt.r.Message}).Attrs(attrs(tt.r)...).Send()
			if got, want := b.String(), slogLine(t, false, tt.r); got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestSlogNamesTheCallSiteAsSlogDoes(t *testing.T) {
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	for _, pc := range []uintptr{pcs[0], 0} {
		r := slog.NewRecord(time.Unix(1, 0).UTC(), slog.LevelInfo, "m", pc)
		var b bytes.Buffer
		l := nib.New(&b, nib.WithLayout(layout.Slog()), nib.WithCaller())
		l.Entry(nib.Entry{Time: r.Time, PC: r.PC, Message: r.Message}).Send()
		if got, want := b.String(), slogLine(t, true, r); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

func TestSlogHoldsForEveryFrontEnd(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 120000000, time.FixedZone("", 3600))
	var b bytes.Buffer
	l := nib.New(&b, nib.WithLayout(layout.Slog()), nib.WithClock(func() time.Time { return now }))
	l.Warn().Dur("took", time.Second).Msg("slow")
	l.Named("db").Warn().Str("msg", "mine").Msg("slow")
	l.LogAttrs(context.Background(), nib.LevelWarn, "slow", slog.Int("n", 1))
	l.Error().Err(errors.New("gone")).Msg("slow")
	want := `{"time":"2026-01-02T15:04:05.12+01:00","level":"WARN","msg":"slow","took":1000000000}
{"time":"2026-01-02T15:04:05.12+01:00","level":"WARN","logger":"db","msg":"slow","field.msg":"mine"}
{"time":"2026-01-02T15:04:05.12+01:00","level":"WARN","msg":"slow","n":1}
{"time":"2026-01-02T15:04:05.12+01:00","level":"ERROR","msg":"slow","error":"gone"}
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
