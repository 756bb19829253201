// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/seed"
)

// A made is a line that was made from what it has: each is "" if it lacks it.
type made struct{ time, level, path string }

var allMade = func() (all []made) {
	for _, at := range []string{"", "2026-11-22T08:59:59Z", "2026-11-22T09:00:00Z"} {
		for _, level := range []string{"", "INFO", "ERROR"} {
			for _, path := range []string{"", "/a"} {
				all = append(all, made{at, level, path})
			}
		}
	}
	return all
}()

// append appends the line in a format; text has no path.
func (m made) append(dst []byte, format int) []byte {
	var fields []string
	add := func(before, value, after string) {
		if value != "" {
			fields = append(fields, before+value+after)
		}
	}
	switch format {
	case 0:
		add(`"time":"`, m.time, `"`)
		add(`"level":"`, m.level, `"`)
		add(`"path":"`, m.path, `"`)
		return append(append(dst, `{"n":1,`...), strings.Join(append(fields, `"m":0}`), ",")+"\n"...)
	case 1:
		add("time=", m.time, "")
		add("level=", m.level, "")
		add("path=", m.path, "")
		return append(append(dst, "n=1 m=0 "...), strings.Join(fields, " ")+"\n"...)
	}
	add("", m.time, "")
	add("", m.level, "")
	return append(dst, strings.Join(append(fields, "a text of words\n"), " ")...)
}

// withAll returns m with each time and level that it lacks.
func (m made) withAll() (all []made) {
	for _, o := range allMade {
		isSame := o.path == m.path && o.time != "" && o.level != ""
		if isSame && (m.time == "" || m.time == o.time) && (m.level == "" || m.level == o.level) {
			all = append(all, o)
		}
	}
	return all
}

// Parts of queries that one line can have all of.
var leftOutParts = []string{
	"level >= warn", "not level < warn", "level in (error, fatal)", "level ~ '(?i)^err'",
	"level != info", "time >= 2026-11-22T09:00:00Z", "time contains T09", "path = /a", "path != /a",
}

// A line that is not selected is counted if a time or a level that it lacks
// could make it selected, or else is not selected for what it has.
func TestLinesThatOnlyLackALevelOrATimeAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 3))
	for range seed.Times(2000, 300, 30) {
		text := leftOutParts[r.IntN(len(leftOutParts))]
		for range r.IntN(3) {
			text += []string{" and ", " or "}[r.IntN(2)] + leftOutParts[r.IntN(len(leftOutParts))]
		}
		q := query(t, text)
		selects := func(line []byte) bool {
			var l logread.Line
			l.Reset(line)
			return q.Match(&l)
		}
		var b []byte
		var want logs.Counts
		for range 60 {
			m, format := allMade[r.IntN(len(allMade))], r.IntN(3)
			line := m.append(nil, format)
			b = append(b, line...)
			want.Lines++
			lacks := slices.ContainsFunc(m.withAll(), func(o made) bool {
				return selects(o.append(nil, format))
			})
			switch {
			case selects(line):
				want.Matched++
			case format == 2 && m.time == "" && m.level == "":
				want.Foreign++
			case lacks:
				want.NoLevel++
			}
		}
		source := logs.Source{Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(b)), nil
		}}
		got, err := logs.Cat(t.Context(), io.Discard, []logs.Source{source},
			logs.Selection{Query: q}, rawLines(t))
		got.NoLevel, got.NoTime = got.NoLevel+got.NoTime, 0
		if err != nil || got != want {
			t.Fatalf("%s: got %+v, %v, want %+v for\n%s", text, got, err, want, b)
		}
	}
}

func TestLinesWithoutALevelOrATime(t *testing.T) {
	const lines = `{"level":"info","time":"2026-11-22T09:00:00Z"}
{"time":"2026-11-22T09:00:00Z","path":"/a"}
{"level":"error"}
{"n":1}

goroutine 1 [running]:
WARN no time
2026-11-22T09:00:00.000000001Z stderr F goroutine 1 [running]:
2026-11-22T09:00:00.000000001Z stderr F 2026-11-22T09:00:00Z no level
`
	for text, want := range map[string]logs.Counts{
		"":                  {Matched: 9},
		"path = /a":         {Matched: 1, Foreign: 1},
		"exists level":      {Matched: 3, Foreign: 1},
		"level >= error":    {Matched: 1, Foreign: 2, NoLevel: 3},
		"level != info":     {Matched: 8},
		"time > 2026-11-22": {Matched: 4, Foreign: 1, NoTime: 3},
		"time < 2026-11-22": {Foreign: 1, NoTime: 3},
		"not exists time":   {Matched: 5},
		"line contains goroutine and level > info": {Foreign: 2},
		"level >= warn and time < 2026-11-22":      {Foreign: 1, NoLevel: 1, NoTime: 2},
		"path = /a and level >= warn":              {Foreign: 1, NoLevel: 1},
	} {
		source := logs.Source{Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(lines)), nil
		}}
		got, err := logs.Cat(t.Context(), io.Discard, []logs.Source{source},
			logs.Selection{Query: query(t, text)}, rawLines(t))
		if want.Lines = 9; err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
}
