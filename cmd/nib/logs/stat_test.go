// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

func TestPercentilesAreRightToOnePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var numbers []float64
	var parts [3]Sketch
	for i := range 30_000 {
		v := math.Exp(r.NormFloat64()*4) - 0.01
		numbers = append(numbers, max(v, 0))
		parts[i%3].Add(v)
	}
	parts[0].merge(&parts[1])
	parts[0].merge(&parts[2])
	s := &parts[0]
	slices.Sort(numbers)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := numbers[int(math.Ceil(q*float64(len(numbers))))-1]
		if got := s.Quantile(q); math.Abs(got-want) > 0.011*want {
			t.Errorf("%g: got %g, want %g", q, got, want)
		}
	}
	if s.count != 30_000 || s.max != numbers[len(numbers)-1] {
		t.Errorf("got %d numbers up to %g", s.count, s.max)
	}
	if n := len(s.buckets); n > mostBucket-leastBucket+1 {
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
		all, failed = all+r.all, failed+r.failed
	}
	if all != 40_000 || failed != 20_000 {
		t.Errorf("got %d lines, %d errors", all, failed)
	}
	if got := sparkline([]rate{{}, {all: 1}, {all: 50}, {all: 100}}, func(r rate) uint64 { return r.all }); got != " ▁▅█" {
		t.Errorf("got %q", got)
	}
	if got := sparkline(make([]rate, 2), func(r rate) uint64 { return r.all }); got != "  " {
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
