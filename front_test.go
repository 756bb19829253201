// SPDX-License-Identifier: Apache-2.0

package nib_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// TestLinesOfOneLoggerAreLikeThoseOfOthers writes lines to one logger, whose
// events keep what the last line began with, and each line again to a logger of
// its own. Both have the built-in clock or no time, since other clocks are not
// kept. The lines differ in the digits of the time only.
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
	seeds := uint64(100)
	if testing.Short() {
		seeds = 30
	}
	for name, root := range roots {
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 7))
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
					t.Fatalf("%s, seed %d, line %d:\ngot  %.2000q\nwant %.2000q", name, seed, i, got[i], want)
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

// timeAhead is what a line of the default layout begins with.
const timeAhead = `{"time":"` + "2006-01-02T15:04:05.000Z" + `"`
