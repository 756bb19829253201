// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"encoding/json"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/layout"
)

var (
	noticeTime = time.Date(2026, 11, 21, 10, 30, 0, 123e6, time.FixedZone("", 3600))
	reasons    = []delivery.Reason{delivery.ReasonFull, delivery.ReasonClosed, delivery.ReasonFailed}
)

func TestNoticeHasCountsByLevelAndReason(t *testing.T) {
	lost := make([]loss.Levels, 3)
	lost[0][level.Row(0)] = 3
	lost[2][level.Row(8)] = math.MaxUint64 - 3
	n := loss.NewNotices(nib.Layout{})
	for range 2 {
		got := n.Append([]byte("head\n"), noticeTime, "gone", reasons, lost)
		want := "head\n" + `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":18446744073709551615,` +
			`"levels":{"info":3,"error":18446744073709551612},"reasons":{"full":3,"failed":18446744073709551612},"message":"gone"}` + "\n"
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestNoticeHasTheLayoutOfOtherLines(t *testing.T) {
	for name, l := range map[string]nib.Layout{
		"nib": {}, "ecs": layout.ECS(), "gcp": layout.GCP(), "datadog": layout.Datadog(), "otel": layout.OTel(), "zap": layout.Zap(),
		"zerolog": layout.Zerolog(), "slog": layout.Slog(), "logrus": layout.Logrus(),
		"unix":               {TimeFormat: nib.TimeUnixMilli, MessageFirst: true, Static: func(e *nib.Event) { e.Str("service", "shop") }},
		"keys of the notice": {TimeKey: "levels", LevelKey: "reasons", MessageKey: "dropped"},
	} {
		var other []byte
		log := nib.NewSink(line{&other}, nib.WithLayout(l))
		log.Entry(nib.Entry{Time: noticeTime, Level: nib.LevelWarn, Message: "gone"}).
			Int("dropped", 1).RawJSON("levels", []byte(`{"info":1}`)).RawJSON("reasons", []byte(`{"full":1}`)).Send()
		lost := make([]loss.Levels, 3)
		lost[0][level.Row(0)] = 1
		if got := loss.NewNotices(l).Append(nil, noticeTime, "gone", reasons, lost); string(got) != string(other) || !json.Valid(got) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, other)
		}
	}
}

// A line is a sink that keeps the last line.
type line struct{ text *[]byte }

func (l line) WriteRecord(r *nib.Record) error {
	*l.text = append((*l.text)[:0], r.Line...)
	return nil
}

func TestNoticeOfAllReasonsAndLevelsDoesNotAllocate(t *testing.T) {
	lost := make([]loss.Levels, 3)
	for c := range lost {
		for row := range lost[c] {
			lost[c][row] = math.MaxUint64 / 21
		}
	}
	n, dst := loss.NewNotices(layout.ECS()), make([]byte, 0, 4096)
	alloctest.Zero(t, func() { dst = n.Append(dst[:0], noticeTime, "gone", reasons, lost) })
}

// A notice is written whatever the view does, and ends its line.
func TestAppendView(t *testing.T) {
	const line, json = `{"n":1}` + "\n", "\n" + `{"n":1}` + "\n"
	for _, tt := range []struct {
		name string
		view func(dst, line []byte) []byte
		want string
	}{
		{"none", nil, json},
		{"text", func(dst, line []byte) []byte { return append(dst, "text\n"...) }, "\ntext\n"},
		{"panics", func(dst, line []byte) []byte { panic("boom") }, json},
		{"panics half-way",
			func(dst, line []byte) []byte { _ = append(dst, "text"...); panic("boom") }, json},
		{"ends its goroutine", func(dst, line []byte) []byte { runtime.Goexit(); return nil },
			json},
		{"nothing", func(dst, line []byte) []byte { return dst }, json},
		{"nil", func(dst, line []byte) []byte { return nil }, json},
		{"no newline", func(dst, line []byte) []byte { return append(dst, "text"...) }, json},
	} {
		dst := append(make([]byte, 0, 100), '\n')
		if got := string(loss.AppendView(dst, []byte(line), tt.view)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
