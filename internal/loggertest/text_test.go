// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// A timed has times and durations in all places where a struct can have them.
type timed struct {
	D   time.Duration
	P   *time.Duration
	L   []time.Duration
	M   map[string]time.Duration
	A   any
	In  struct{ D, E time.Duration }
	O   time.Duration `json:",omitempty"`
	Ptr *timed        `json:",omitempty"`
	T   time.Time
	TP  *time.Time
	TL  []time.Time
	TM  map[int]time.Time
	TA  any
}

func newTimed(d time.Duration, t time.Time) timed {
	v := timed{D: d, P: &d, L: []time.Duration{d, d}, M: map[string]time.Duration{"k": d}, A: d, O: d, T: t, TP: &t, TL: []time.Time{t}, TM: map[int]time.Time{1: t}, TA: &t}
	v.In.D, v.In.E = d, d
	return v
}

// textWays are the ways for a duration and a time to get into a line, other
// than Dur and Time.
var textWays = map[string]func(l *nib.Logger, d time.Duration, t time.Time){
	"Any":         func(l *nib.Logger, d time.Duration, t time.Time) { l.Log().Any("d", d).Any("t", t).Send() },
	"Any pointer": func(l *nib.Logger, d time.Duration, t time.Time) { l.Log().Any("d", &d).Any("t", &t).Send() },
	"Any slice": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Any("d", []time.Duration{d, d}).Any("t", []time.Time{t}).Send()
	},
	"Any array": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Any("d", [1]time.Duration{d}).Any("t", [2]*time.Time{&t, &t}).Send()
	},
	"Any map": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Any("d", map[string]time.Duration{"k": d}).Any("t", map[int]any{1: t}).Send()
	},
	"Any map of any": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Any("d", map[string]any{"k": []any{d, &d}, "t": map[string]any{"t": &t}}).Send()
	},
	"struct": func(l *nib.Logger, d time.Duration, t time.Time) {
		v := newTimed(d, t)
		v.Ptr = &v
		w := newTimed(d, t)
		w.Ptr = new(timed)
		*w.Ptr = newTimed(d, t)
		l.Log().Any("s", w).Any("p", &w).Send()
	},
	"Val":         func(l *nib.Logger, d time.Duration, t time.Time) { nib.Val(nib.Val(l.Log(), "d", d), "t", t).Send() },
	"Val pointer": func(l *nib.Logger, d time.Duration, t time.Time) { nib.Val(nib.Val(l.Log(), "d", &d), "t", &t).Send() },
	"Val slice": func(l *nib.Logger, d time.Duration, t time.Time) {
		nib.Val(nib.Val(l.Log(), "d", []time.Duration{d}), "t", []*time.Time{&t}).Send()
	},
	"Val struct": func(l *nib.Logger, d time.Duration, t time.Time) { nib.Val(l.Log(), "s", newTimed(d, t)).Send() },
	"Inline":     func(l *nib.Logger, d time.Duration, t time.Time) { nib.Inline(l.Log(), newTimed(d, t)).Send() },
	"Inline plain": func(l *nib.Logger, d time.Duration, t time.Time) {
		nib.Inline(l.Log(), &struct {
			D time.Duration
			T time.Time
		}{d, t}).Send()
	},
	"Line": func(l *nib.Logger, d time.Duration, t time.Time) {
		v := newTimed(d, t)
		timedLine.Log(context.Background(), l, &v)
	},
	"Fields": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Fields(map[string]any{"d": d, "t": &t}).Send()
	},
	"Array": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Array("a", func(a *nib.Array) { a.Dur(d).Any(&d).Time(t).Any(&t) }).Send()
	},
	"Attrs": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.Log().Attrs(slog.Duration("d", d), slog.Any("p", &d), slog.Time("t", t), slog.Any("s", newTimed(d, t)), slog.Any("l", []time.Duration{d})).Send()
	},
	"WithAttrs": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.WithAttrs(slog.Duration("d", d), slog.Any("p", &d), slog.Any("t", &t)).Log().Send()
	},
	"With": func(l *nib.Logger, d time.Duration, t time.Time) {
		l.With(func(e *nib.Event) { e.Any("s", newTimed(d, t)) }).Log().Send()
	},
	"Static": func(l *nib.Logger, d time.Duration, t time.Time) { l.Log().Send() },
}

var timedLine = nib.NewTemplate[timed](nib.LevelInfo, "")

// texts collects the strings and numbers of a value.
func (v *node) texts(into map[string]bool) {
	for _, kid := range v.kids {
		kid.texts(into)
	}
	if v.kind == '"' || v.kind == '0' {
		into[v.text] = true
	}
}

func TestOneValueHasOneText(t *testing.T) {
	const d = 3*time.Second + 5*time.Microsecond
	zone := time.FixedZone("", 3600)
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, zone)
	late := time.Date(12026, 1, 2, 3, 4, 5, 678_901_234, zone)
	cases := 0
	for _, duration := range []nib.DurationFormat{nib.DurationMillis, nib.DurationSeconds, nib.DurationNanos, nib.DurationString} {
		for _, format := range []string{"", nib.TimeUnix, nib.TimeUnixMilli, nib.TimeUnixMicro, nib.TimeUnixNano, time.RFC3339Nano, time.RFC1123} {
			for _, keep := range []bool{false, true} {
				for _, tm := range []time.Time{at, late} {
					layout := nib.Layout{TimeKey: nib.OmitKey, MessageKey: nib.OmitKey, LevelKey: nib.OmitKey, Duration: duration, TimeFormat: format, KeepZone: keep, TimeZone: time.FixedZone("X", -7200)}
					l, c := newCapture(t, nib.WithLayout(layout))
					want := map[string]bool{}
					l.Log().Dur("d", d).Time("t", tm).Send()
					c.one().texts(want)
					for name, log := range textWays {
						if name == "Static" {
							layout.Static = func(e *nib.Event) { e.Any("s", newTimed(d, tm)) }
							l = l.WithOptions(nib.WithLayout(layout))
						}
						cases++
						log(l, d, tm)
						got := map[string]bool{}
						c.one().texts(got)
						for text := range got {
							if !want[text] && text != "0" && text != "" {
								t.Errorf("%s, duration %v, time %q, keep %v: got %q, want one of %v", name, duration, format, keep, text, want)
							}
						}
						layout.Static = nil
						l = l.WithOptions(nib.WithLayout(layout))
					}
				}
			}
		}
	}
	t.Logf("%d lines", cases)
}

// A column has the unit of its tag under every layout.
func TestUnitsOfTagsStay(t *testing.T) {
	type units struct {
		D time.Duration `json:"d"`
		S time.Duration `json:"s" log:"unit=s"`
		M time.Duration `json:"ms" log:"unit=ms"`
		U time.Duration `json:"us" log:"unit=us"`
		N time.Duration `json:"ns" log:"unit=ns"`
		Q time.Duration `json:"q,string"`
	}
	const d = 1500 * time.Microsecond
	for duration, want := range map[nib.DurationFormat]string{
		nib.DurationMillis: "1.5", nib.DurationSeconds: "0.0015", nib.DurationNanos: "1500000", nib.DurationString: `"1.5ms"`,
	} {
		got := value(t, func(e *nib.Event) { e.Any("k", units{d, d, d, d, d, d}) }, nib.WithLayout(nib.Layout{Duration: duration}))
		if want := fmt.Sprintf(`{"d":%s,"s":0.0015,"ms":1.5,"us":1500,"ns":1500000,"q":"%s"}`, want, strings.Trim(want, `"`)); got.String() != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
