// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/seed"
)

func TestPercentilesAreRightToOnePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	var numbers []float64
	var parts [3]Sketch
	for i := range 30_000 {
		v := math.Exp(r.NormFloat64() * 4)
		switch i % 7 {
		case 0:
			v = 0
		case 1, 2:
			v = -v
		}
		numbers = append(numbers, v)
		parts[i%3].Add(v)
	}
	parts[0].merge(&parts[1])
	parts[0].merge(&parts[2])
	s := &parts[0]
	slices.Sort(numbers)
	for _, q := range []float64{0.0001, 0.01, 0.2, 0.3, 0.5, 0.9, 0.99, 0.999, 1} {
		want := numbers[int(math.Ceil(q*float64(len(numbers))))-1]
		if got := s.Quantile(q); math.Abs(got-want) > 0.011*math.Abs(want) {
			t.Errorf("%g: got %g, want %g", q, got, want)
		}
	}
	if s.count != 30_000 || s.max != numbers[len(numbers)-1] {
		t.Errorf("got %d numbers up to %g", s.count, s.max)
	}
	if n := len(s.buckets); n > 2*(mostBucket-leastBucket+1)+1 {
		t.Errorf("%d buckets", n)
	}
}

func TestPatternsLeaveOutWhatDiffers(t *testing.T) {
	for text, want := range map[string]string{
		"request 17 of user-9 took 1.5s": "request * of * took *",
		`cannot open "a b.txt": denied`:  `cannot open "*": denied`,
		"don't stop":                     "don't stop",
		`open quote " stays`:             `open quote " stays`,
		"":                               "",
		"id=4bf92f35 (0x1f)":             "id=* (*)",
		"größe größe1":                   "größe *",
	} {
		if got := string(appendPattern(nil, []byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if n := len(appendPattern(nil, []byte(strings.Repeat("a ", 500)))); n > maxPattern+1 {
		t.Errorf("a pattern of %d bytes", n)
	}
}

func TestHistogramsKeepAllLines(t *testing.T) {
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixNano()
	a, b := newHistogram(), newHistogram()
	for i := range int64(20_000) {
		a.add(start+i*int64(time.Second), nib.LevelInfo)
		b.add(start-i*int64(time.Millisecond), nib.LevelError)
	}
	a.merge(&b)
	if len(a.buckets) > maxBuckets || a.first != start-19_999*int64(time.Millisecond) || a.last != start+19_999*int64(time.Second) {
		t.Errorf("%d buckets from %d to %d", len(a.buckets), a.first, a.last)
	}
	var all, failed uint64
	for _, r := range a.columns(60) {
		all, failed = all+r.All, failed+r.Error
	}
	if all != 40_000 || failed != 20_000 {
		t.Errorf("got %d lines, %d errors", all, failed)
	}
	rates := []Rate{{}, {All: 1}, {All: 50}, {All: 100}}
	if got := sparkline(rates, func(r Rate) uint64 { return r.All }); got != " ▁▅█" {
		t.Errorf("got %q", got)
	}
	if got := sparkline(make([]Rate, 2), func(r Rate) uint64 { return r.All }); got != "  " {
		t.Errorf("without lines: got %q", got)
	}
}

func TestGroupsAreBounded(t *testing.T) {
	c := newCollector([]string{"n"}, nil)
	for i := range 3 * maxGroups {
		c.key = fmt.Appendf(c.key[:0], "%d", i)
		c.in(c.groups, maxGroups)
	}
	if len(c.groups) != maxGroups+1 || c.groups[others].count != 2*maxGroups {
		t.Errorf("%d groups, %d lines in others", len(c.groups), c.groups[others].count)
	}
	d := newCollector([]string{"n"}, nil)
	d.key = []byte("new")
	d.in(d.groups, maxGroups)
	mergeGroups(c.groups, d.groups, maxGroups)
	if c.groups[others].count != 2*maxGroups+1 {
		t.Errorf("%d lines in others after a merge", c.groups[others].count)
	}
}

func TestTimesFarFromNowAreLeftOutOfASummary(t *testing.T) {
	var text strings.Builder
	for _, year := range []string{"0001", "1680", "1700", "2026", "2262", "9999"} {
		fmt.Fprintf(&text, `{"time":"%s-01-02T10:00:00Z","level":"info","message":"m"}`+"\n", year)
	}
	sources, err := Find([]string{"-"}, strings.NewReader(text.String()), false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Summarize(t.Context(), sources, Selection{}, []string{"level"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	if sum.Counts.Matched != 6 || !sum.First.Equal(want) || !sum.Last.Equal(want) {
		t.Errorf("got %+v from %v to %v", sum.Counts, sum.First, sum.Last)
	}
	if all, _, _ := sum.Sparklines(60); strings.Trim(all, " ") != "█" {
		t.Errorf("got %q", all)
	}
}

func TestLinesAreMergedByTimesFarFromNow(t *testing.T) {
	var sources []Source
	for _, years := range [][]string{{"2026", "9999"}, {"0001", "2025"}} {
		var text strings.Builder
		for _, year := range years {
			fmt.Fprintf(&text, `{"time":"%s-01-02T10:00:00Z","message":"%[1]s"}`+"\n", year)
		}
		found, err := Find([]string{"-"}, strings.NewReader(text.String()), false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, found...)
	}
	newRenderer, _, err := Form{Template: "{message}"}.NewRenderer()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	counts, err := Cat(t.Context(), &out, sources, Selection{}, newRenderer)
	if want := "0001\n2025\n2026\n9999\n"; err != nil || out.String() != want || counts.Late != 0 {
		t.Errorf("got %q, %+v, %v, want %q", out.String(), counts, err, want)
	}
}

func TestOnlyFiniteNumbersAreMeasured(t *testing.T) {
	for text, want := range map[string]bool{"1.5": true, "250ms": true, "-1e3": true, "1e999": false, "+Inf": false, "-inf": false, "NaN": false, "x": false} {
		if v, ok := numberOf([]byte(text)); ok != want {
			t.Errorf("%s: got %v, %v, want %v", text, v, ok, want)
		}
	}
}

func TestValuesOfGroupsAreBoundedAndStayInTheirColumn(t *testing.T) {
	c := newCollector([]string{"a", "b"}, nil)
	for _, text := range []string{`{"a":"x\u0000y","b":"z"}`, `{"a":"` + strings.Repeat("ä", maxValue) + `","b":"z"}`} {
		var l logread.Line
		l.Reset([]byte(text))
		c.Append(nil, &l)
	}
	for _, g := range sorted(c.groups) {
		if len(g.Values) != 2 || g.Values[1] != "z" || len(g.Values[0]) > maxValue+len("…") || !utf8.ValidString(g.Values[0]) {
			t.Errorf("got %.50q", g.Values)
		}
	}
	if got := appendPattern(nil, bytes.Repeat([]byte("ä"), 5000)); len(got) > maxPattern || !utf8.Valid(got) {
		t.Errorf("got a pattern of %d bytes", len(got))
	}
	if len(c.groups) != 2 {
		t.Errorf("got %d groups", len(c.groups))
	}
}

// endless is a reader of one line that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestFieldsOfTheJournalAreBounded(t *testing.T) {
	in := io.LimitReader(endless{}, maxField+1<<20)
	_, err := newJournal(bufio.NewReader(io.MultiReader(strings.NewReader("__CURSOR="), in))).Read(make([]byte, 100))
	if !errors.Is(err, errJournal) {
		t.Errorf("got %v", err)
	}
}
