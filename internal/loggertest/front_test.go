// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
)

// TestLinesOfOneLoggerAreLikeThoseOfOthers writes lines to one logger, whose
// events keep the beginning of the last line, and each line again to a logger
// of its own. Both have the built-in clock or no time, since other clocks are
// not kept. The lines differ in the digits of the time only.
func TestLinesOfOneLoggerAreLikeThoseOfOthers(t *testing.T) {
	var out bytes.Buffer
	noTime := nib.Layout{TimeKey: nib.OmitKey}
	logrus := layout.Logrus()
	logrus.TimeKey = nib.OmitKey
	roots := map[string]*nib.Logger{
		"default":       nib.New(&out, nib.WithLevel(nib.LevelTrace*100)),
		"no time":       nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(noTime)),
		"caller":        nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(noTime), nib.WithCaller()),
		"message first": nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, MessageFirst: true})),
		"logrus":        nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(logrus)),
		"last wins":     nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(noTime), nib.WithDuplicateKeys(nib.DuplicatesLastWins)),
		"limit":         nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(noTime), nib.WithMaxLine(300)),
		"redact":        nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithLayout(noTime), nib.WithRedact("a", "user_id")),
	}
	seeds := uint64(seed.Times(500, 100, 30))
	from := seed.Of(t)
	for name, root := range roots {
		for n := range seeds {
			rng := rand.New(rand.NewPCG(from+n, 7))
			random := func(most int) []byte {
				code := make([]byte, rng.IntN(most))
				for i := range code {
					code[i] = byte(rng.Uint32())
				}
				return code
			}
			first := random(100)
			derive := func() *nib.Logger { return derived(root, first) }
			line := func(l *nib.Logger, code []byte) string {
				out.Reset()
				randomLine(l, code)
				text := out.String()
				if name == "default" && len(text) > len(timeAhead) {
					text = text[len(timeAhead):]
				}
				return text
			}
			codes := make([][]byte, 20)
			for i := range codes {
				codes[i] = random(1 + i%4*15) // many have no fields
			}
			var got []string
			for one := derive(); len(got) < len(codes); {
				got = append(got, line(one, codes[len(got)]))
			}
			for i, code := range codes {
				if want := line(derive(), code); got[i] != want {
					t.Fatalf("%s, seed %d, line %d:\ngot  %.2000q\nwant %.2000q", name, from+n, i, got[i], want)
				}
			}
		}
	}
}

// TestEntriesOfOneLoggerAreLikeThoseOfOthers writes entries to one logger, with
// lines of its clock in between, and each entry again to a new logger. Many
// share a second, a level and a zone with the one before.
func TestEntriesOfOneLoggerAreLikeThoseOfOthers(t *testing.T) {
	zones := []*time.Location{time.Local, time.Local, time.Local, time.UTC, time.FixedZone("x", 5400), time.FixedZone("x", 100*3600)}
	seconds := []int64{1e9, 1e9, 1e9, 1e9 + 1, 0, -1, -62135596800, 1e13}
	fractions := []int64{123456789, 987654321, 7, 0, 120, 123000000, 999999990}
	n, rng := seed.Times(1000, 300, 100), rand.New(rand.NewPCG(seed.Of(t), 4))
	entry := func() (en nib.Entry) {
		en.Time = time.Unix(seconds[rng.IntN(len(seconds))], fractions[rng.IntN(len(fractions))]).In(zones[rng.IntN(len(zones))])
		if rng.IntN(10) == 0 {
			en.Time = time.Time{}
		}
		if en.Level = nib.LevelInfo; rng.IntN(5) == 0 {
			en.Level = nib.Level(rng.IntN(9))
		}
		if rng.IntN(10) == 0 {
			en.Stack = "main.main"
		}
		en.Message = "m"
		return en
	}
	var out bytes.Buffer
	for _, format := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.000Z07:00", time.RFC3339, nib.TimeUnixNano, nib.TimeUnix, time.Kitchen} {
		for name, l := range inOrder(map[string]nib.Layout{
			"own zone":      {TimeFormat: format, KeepZone: true},
			"far zone":      {TimeFormat: format, TimeZone: zones[5]},
			"message first": {TimeFormat: format, MessageFirst: true, Static: func(e *nib.Event) { e.Int("a", 1) }},
			"no time":       {TimeKey: nib.OmitKey},
		}) {
			fresh := func() *nib.Logger { return nib.New(&out, nib.WithLayout(l)).With(func(e *nib.Event) { e.Int("b", 2) }) }
			write := func(l *nib.Logger, en nib.Entry) string {
				out.Reset()
				l.Entry(en).Int("c", 3).Send()
				return out.String()
			}
			var entries []nib.Entry
			var got []string
			for one := fresh(); len(got) < n; {
				entries = append(entries, entry())
				got = append(got, write(one, entries[len(got)]))
				if rng.IntN(10) > 0 {
					continue
				}
				out.Reset()
				one.Info().Msg("m")
				line := out.String()
				if strings.HasPrefix(line, `{"time":"2001-`) || strings.HasPrefix(line, `{"time":1000000`) || !strings.Contains(line, `"b":2`) {
					t.Fatalf("%s, %s: the line after %+v is %s", format, name, entries[len(got)-1], line)
				}
			}
			for i, en := range entries {
				if want := write(fresh(), en); got[i] != want {
					t.Fatalf("%s, %s, entry %d, %+v:\ngot  %swant %s", format, name, i, en, got[i], want)
				}
			}
		}
	}
}

// derived returns a logger with the fields and groups of a random program.
func derived(l *nib.Logger, code []byte) *nib.Logger {
	m, obj := &machine{code: code}, &node{kind: '{'}
	for n := m.next() % 4; n > 0; n-- {
		if m.next()%2 == 0 {
			l = l.WithGroup(m.text())
		} else {
			l = l.With(func(e *nib.Event) { m.fields(e, obj, true, 1) })
		}
	}
	return l
}

// randomLine writes the line of a random program.
func randomLine(l *nib.Logger, code []byte) {
	m := &machine{code: code}
	e := l.At(nib.Level(m.next() % 3 * 4))
	m.fields(e, &node{kind: '{'}, true, 1)
	m.finish(e, m.text())
}

// timeAhead is the beginning of a line in the default layout.
const timeAhead = `{"time":"` + "2006-01-02T15:04:05.000Z" + `"`
