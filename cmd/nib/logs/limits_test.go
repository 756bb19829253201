// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestDivisionRoundsDown(t *testing.T) {
	for a := int64(-12); a <= 12; a++ {
		for b := int64(1); b <= 5; b++ {
			// big.Int.Div is Euclidean, which is the floor for a positive divisor.
			want := new(big.Int).Div(big.NewInt(a), big.NewInt(b)).Int64()
			if got := floorDiv(a, b); got != want {
				t.Errorf("%d / %d: got %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestGreatestOfNegativeNumbers(t *testing.T) {
	var s, first, second Sketch
	for _, v := range []float64{-7, -3, -5} {
		s.Add(v)
	}
	if q := s.Quantile(1); s.Max() != -3 || math.Abs(q+3) > 0.03 {
		t.Errorf("got a maximum of %g and a quantile of %g, want -3", s.Max(), q)
	}
	s.Add(-2.5)
	if s.Max() != -2.5 {
		t.Errorf("got a maximum of %g, want -2.5", s.Max())
	}
	first.Add(-2)
	second.merge(&first)
	second.merge(new(Sketch))
	if second.Max() != -2 {
		t.Errorf("merged: got a maximum of %g, want -2", second.Max())
	}
	if second.merge(&s); second.Max() != -2 {
		t.Errorf("merged with lower ones: got a maximum of %g, want -2", second.Max())
	}
	if s.merge(&first); s.Max() != -2 {
		t.Errorf("merged with a higher one: got a maximum of %g, want -2", s.Max())
	}
}

// Lines at one time are in order; only an earlier one is late.
func TestLinesOfOneTimeAreNotLate(t *testing.T) {
	line := func(time, message string) string {
		return `{"time":"2026-11-21T09:30:0` + time + `Z","message":"` + message + "\"}\n"
	}
	for text, late := range map[string]uint64{
		line("0", "a") + line("0", "b") + line("1", "c") + line("1", "d"): 0,
		line("1", "a") + line("0", "b") + line("0", "c") + line("1", "d"): 2,
	} {
		newRenderer, _, err := Form{Template: "{message}"}.NewRenderer()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		var sources []Source
		for _, text := range []string{text, line("0", "other")} {
			found, err := Find([]string{"-"}, strings.NewReader(text), false, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, found...)
		}
		counts, err := Cat(t.Context(), &out, sources, Selection{}, newRenderer)
		if err != nil || counts.Late != late {
			t.Errorf("got %d late lines and %v, want %d in\n%s", counts.Late, err, late, text)
		}
	}
}

// The same of lines that are read while files grow.
func TestFollowedLinesOfOneTimeAreNotLate(t *testing.T) {
	f := tailing{keys: []int64{noTime, noTime}}
	for source, times := range [][]int64{{5, 5, noTime, 6, 4, 4}, {5, 5}} {
		b := &liveBlock{source: source}
		for _, at := range times {
			b.spans = append(b.spans, span{time: at})
		}
		f.waiting = append(f.waiting, b)
	}
	if err := f.flush(); err != nil || f.counts.Late != 2 {
		t.Errorf("got %d late lines and %v, want 2", f.counts.Late, err)
	}
}
