// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
)

// slow returns the entry of lines without shapes.
func slow(text []byte) entry {
	e := entry{length: uint32(len(text)), from: math.MaxInt64, to: math.MinInt64}
	var l logread.Line
	l.SetZone(zoneless)
	for line := range bytes.Lines(text) {
		l.Reset(line)
		e.lines++
		level := LevelBit(l.Level())
		t, ok := l.Time()
		switch {
		case ok:
			e.levels |= level
		case l.IsForeign():
			e.foreign++
		case len(l.Bytes()) > 0:
			e.noTime++
			e.levels |= level << timeless
		}
		switch {
		case !ok || e.from == always:
		case t.Location() == zoneless || !isOrdinary(t):
			e.from, e.to = always, math.MaxInt64
		default:
			second := t.Truncate(time.Second).UnixNano()
			e.from, e.to = min(e.from, second), max(e.to, second+1e9-1)
		}
	}
	return e
}

// wantEntry compares an entry with the entry of a slow reader.
func wantEntry(t testing.TB, text []byte, got entry) {
	t.Helper()
	want := slow(text)
	if want.from == always {
		if got.from != always || got.to != want.to || got.length != want.length {
			t.Errorf("got %+v, want a block that is always read", got)
		}
		return
	}
	if got.sample = 0; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// beginnings are beginnings of lines whose shapes are nearly the same.
var beginnings = []string{
	`{"time":"%sZ","level":"%s","message":"a"}`,
	`{"time":"%sZ","level":"%s"}`,
	`{"time":"%s+01:00","level":"%s","message":"a"}`,
	`{"time":"%s","level":"%s","message":"without a zone"}`,
	`{"level":"%[2]s","time":"%[1]sZ","message":"a"}`,
	`{"level":"%[2]s","time":"%[1]sZ"}`,
	`{"level":"%[2]s","time":"%[1]s"}`,
	`{"level":"%[2]s","ts":%[3]s,"msg":"a"}`,
	`{"level":"%[2]s","ts":%[3]s}`,
	`{"ts":%[3]s,"level":"%[2]s"}`,
	`{"ts":%[3]se1,"level":"%[2]s"}`,
	`{"ts":"%[3]s","level":"%[2]s"}`,
	`{"level":%[4]s,"time":%[3]s}`,
	`{"time":%[3]s,"level":%[4]s,"a":1}`,
	`{"time":%[3]s,"level":%[4]s0,"a":1}`,
	`{"time":"%sZ","a":1,"level":"%s"}`,
	`{"time":"%sZ","a":"%[3]s","level":"%[2]s"}`,
	`{"start":"%[1]sZ","time":"%[1]sZ","level":"%[2]s"}`,
	`{"time":"%sZ","time":"2027-01-01T00:00:00Z","level":"%s","level":"fatal"}`,
	`{"time":"none","time":"%sZ","level":"none","level":"%s"}`,
	`{"severity":"%[2]s","timestamp":"%[1]sZ","level":"debug"}`,
	`{"time":"%sZ","status":"%s","a":1}`,
	`{"time":"%sZ","status":"info","level":"%s"}`,
	`{"timestamp":"%sZ","status":"%s","level":"fatal"}`,
	`{"time" : "%sZ", "level" : "%s" }`,
	`{"time":"%sZ","level":"%s`,
	`{"time":"%sZ","level`,
	`{"time":"%sZ"}`,
	`{"level":"%[2]s"}`,
	`{"__REALTIME_TIMESTAMP":"%[3]s","PRIORITY":"%[4]s"}`,
	`{"time":"%sZ","level":"\u0069nfo","message":"a"}`,
	`{"a":{"time":"%sZ","level":"%s"},"level":"warn"}`,
	`time=%sZ level=%s msg=a`,
	`%sZ %s a text`,
	`goroutine 1 [running]:`,
	``,
}

// randomLines appends lines that are each like the lines before.
func randomLines(r *rand.Rand, n int) (text []byte) {
	form := beginnings[r.IntN(len(beginnings))]
	at := begin
	for range n {
		if r.IntN(10) == 0 {
			form = beginnings[r.IntN(len(beginnings))]
		}
		at = at.Add(time.Duration(r.IntN(2000)-200) * time.Millisecond)
		clock := at.Format([]string{
			"2006-01-02T15:04:05", "2006-01-02T15:04:05.000", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.0",
			"2006-01-02T15:04:05,000", "2006-01-02T15:04:05.", "2006-01-02T15:04",
		}[min(r.IntN(30), 6)])
		number := []string{
			fmt.Sprint(at.Unix()), fmt.Sprint(at.UnixMilli()), fmt.Sprint(at.UnixMicro()), fmt.Sprint(at.UnixNano()),
			fmt.Sprintf("%d.%03d", at.Unix(), at.Nanosecond()/1e6), fmt.Sprintf("%d.%d", at.UnixMilli(), r.IntN(100)),
			fmt.Sprintf("0%d", at.UnixMilli()), fmt.Sprintf("-%d", at.Unix()), fmt.Sprintf("%d", r.Int64()), fmt.Sprintf("00999999%05d", r.IntN(1e5)),
		}[min(r.IntN(14), 9)]
		level := []string{"debug", "info", "INFO", "warn", "error", "info+2", "loud"}[r.IntN(7)]
		line := fmt.Sprintf(form, clock, level, number, fmt.Sprint(r.IntN(7)))
		line, _, _ = strings.Cut(line, "%!")
		text = append(append(text, line...), '\n')
	}
	return text
}

func TestAnEntryEnclosesItsLines(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 500
	}
	r := rand.New(rand.NewPCG(seed.Of(t), 5))
	b := newBlock()
	for range n {
		text := randomLines(r, 1+r.IntN(30))
		b.begin()
		b.add(text)
		if wantEntry(t, text, b.entry); t.Failed() {
			t.Fatalf("%s", text)
		}
	}
}

// A reader takes the second field for the time if the first one has a dot
// without digits. The next line has no dot.
func TestALineWithoutDecimalsAfterOneThatIsNoTime(t *testing.T) {
	lines := ""
	for _, first := range []string{"02.", "02", "02.5", "03."} {
		lines += `{"time":"2026-11-22T09:00:` + first + `Z",` +
			`"time":"2027-01-01T00:00:00Z","level":"error"}` + "\n"
	}
	b := newBlock()
	b.add([]byte(lines))
	wantEntry(t, []byte(lines), b.entry)
}

// The status of a request is the level of a line only without a level.
func TestALevelBehindAStatus(t *testing.T) {
	const line = `{"time":"2026-11-22T09:00:00Z","status":"info",`
	const rest = `"message":"a line without a level is info"}` + "\n"
	const lines = line + rest + line + `"level":"error",` + rest
	b := newBlock()
	b.add([]byte(lines))
	wantEntry(t, []byte(lines), b.entry)
}

func TestCountDigits(t *testing.T) {
	for c := range 256 {
		for n := range 20 {
			b := append(bytes.Repeat([]byte("0918273645"), 2)[:n], byte(c), '1', '2', '3', '4', '5', '6', '7', '8')
			want := n
			if '0' <= c && c <= '9' {
				want = len(b)
			}
			if got := countDigits(b); got != want {
				t.Errorf("%q: got %d digits, want %d", b, got, want)
			}
		}
	}
}

func FuzzAnEntryEnclosesItsLines(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 21))
	for range 30 {
		f.Add(randomLines(r, 4))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 || text[len(text)-1] != '\n' {
			return
		}
		b := newBlock()
		b.add(text)
		wantEntry(t, text, b.entry)
	})
}

// linesOf returns lines of a logger, a millisecond apart.
func linesOf(n int, options ...nib.Option) []byte {
	var out bytes.Buffer
	at := begin
	log := nib.New(&out, append(options, nib.WithClock(func() time.Time { at = at.Add(time.Millisecond); return at }))...)
	for i := range n {
		log.Info().Str("method", "GET").Str("path", "/api/v1/orders").Int("status", 200).Int("n", i).Msg("request served")
		if i%10 == 0 {
			log.Warn().Str("tenant", "b").Msg("slow")
		}
	}
	return out.Bytes()
}

// The layouts of nib have shapes: their lines are not read in full.
func TestLinesOfLayoutsHaveShapes(t *testing.T) {
	for name, option := range layouts() {
		text := linesOf(5000, option)
		b := newBlock()
		b.add(text)
		wantEntry(t, text, b.entry)
		found := 0
		for line := range bytes.Lines(text) {
			if b.add(line); b.shapes.misses == 0 {
				found++
			}
		}
		if found < int(b.lines)/2*9/10 {
			t.Errorf("%s: %d of %d lines have a shape", name, found, b.lines/2)
		}
	}
}

func layouts() map[string]nib.Option {
	return map[string]nib.Option{
		"nib": nib.WithLayout(nib.Layout{}), "ecs": nib.WithLayout(layout.ECS()), "gcp": nib.WithLayout(layout.GCP()),
		"datadog": nib.WithLayout(layout.Datadog()), "otel": nib.WithLayout(layout.OTel()), "logrus": nib.WithLayout(layout.Logrus()),
		"zap": nib.WithLayout(layout.Zap()), "zerolog": nib.WithLayout(layout.Zerolog()), "slog": nib.WithLayout(layout.Slog()),
	}
}

func TestAllocAddLines(t *testing.T) {
	b := newBlock()
	text := linesOf(100)
	foreign := []byte("a text\n" + `{"level":"info","a":"b\n"}` + "\n" + `{"time":"2026-11-22T09:00:00.5Z","caller":"a.go:1","level":"info"}` + "\n")
	alloctest.Zero(t, func() { b.add(text); b.add(foreign) })
}

// BenchmarkAddLines measures the index per line of 200 bytes: with a shape, and
// parsed.
func BenchmarkAddLines(b *testing.B) {
	for name, text := range map[string][]byte{
		"shape": linesOf(1000),
		"read":  bytes.ReplaceAll(linesOf(1000), []byte(`,"level"`), fmt.Appendf(nil, `,"pad":"%0600d","level"`, 0)),
	} {
		var lines [][]byte
		for line := range bytes.Lines(text) {
			lines = append(lines, line)
		}
		b.Run(name, func(b *testing.B) {
			k := newBlock()
			i := 0
			for b.Loop() {
				k.add(lines[i%len(lines)])
				i++
			}
		})
	}
}
