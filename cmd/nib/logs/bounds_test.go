// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
)

func TestFirstAndLastYear(t *testing.T) {
	for at, want := range map[string]int64{
		"1677-12-31T23:59:59Z": noTime + 1, "1678-01-01T00:00:00Z": -9214560000000000000,
		"2261-12-31T23:59:59Z": 9214646399000000000, "2262-01-01T00:00:00Z": math.MaxInt64,
	} {
		moment, err := time.Parse(time.RFC3339, at)
		if got := nanosOf(moment); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", at, got, err, want)
		}
	}
	for year, want := range map[int]int{
		firstYear - 1: 0, firstYear: 1, lastYear: 1, lastYear + 1: 0,
	} {
		c := newCollector(nil, nil)
		var l logread.Line
		l.Reset(fmt.Appendf(nil, `{"time":"%d-06-01T00:00:00Z"}`, year))
		if c.Append(nil, &l); len(c.over.buckets) != want {
			t.Errorf("%d: got %d times in the summary, want %d", year, len(c.over.buckets), want)
		}
	}
}

func TestLevelsOfAHistogram(t *testing.T) {
	for level, want := range map[nib.Level]Rate{
		nib.LevelWarn - 1: {1, 0, 0}, nib.LevelWarn: {1, 1, 0},
		nib.LevelError - 1: {1, 1, 0}, nib.LevelError: {1, 0, 1},
	} {
		h := newHistogram()
		h.add(0, level)
		if got := h.buckets[0]; got != want {
			t.Errorf("%v: got %+v, want %+v", level, got, want)
		}
	}
}

func TestBucketsOfAHistogram(t *testing.T) {
	h := newHistogram()
	width := h.width
	for i := range int64(maxBuckets) {
		h.addRate(i*width, Rate{All: 1})
	}
	last := (maxBuckets - 1) * width
	if len(h.buckets) != maxBuckets || h.width != width || h.first != 0 || h.last != last {
		t.Errorf("full: got %d buckets of %d up to %d", len(h.buckets), h.width, h.last)
	}
	h.addRate(-1, Rate{All: 1})
	if len(h.buckets) != maxBuckets/2+1 || h.width != 2*width || h.first != -1 {
		t.Errorf("one more: got %d buckets of %d from %d", len(h.buckets), h.width, h.first)
	}
	h.addRate(h.last+1, Rate{All: 1})
	if h.last != last+1 {
		t.Errorf("a nanosecond later: got the last time %d, want %d", h.last, last+1)
	}
	one := newHistogram()
	one.add(7, 0)
	empty := newHistogram()
	if empty.merge(&one); empty.first != 7 || empty.last != 7 {
		t.Errorf("merged: got %d to %d, want 7", empty.first, empty.last)
	}
	later := newHistogram()
	later.add(9, 0)
	if later.merge(&one); later.first != 7 || later.last != 9 || later.width != width {
		t.Errorf("merged: got %d to %d in buckets of %d, want 7 to 9",
			later.first, later.last, later.width)
	}
}

func TestValuesThatAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abcd": "abcd", "abcde": "abcd", "abcä": "abc",
		"äöü": "äö", "\x80\x80\x80\x80\x80": "",
	} {
		if got := beginning([]byte(text), 4); string(got) != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for n, cut := range map[int]bool{maxValue: false, maxValue + 1: true} {
		want := strings.Repeat("x", min(n, maxValue))
		if cut {
			want += "…"
		}
		if got := appendGroupValue(nil, []byte(strings.Repeat("x", n))); string(got) != want {
			t.Errorf("%d bytes: got %d, want %d", n, len(got), len(want))
		}
	}
	if got := appendGroupValue(nil, []byte("\x00a")); string(got) != "\ufffda" {
		t.Errorf("got %q, want no zero byte", got)
	}
}

func TestShortestAndLongestDurations(t *testing.T) {
	longest := "1" + strings.Repeat("0", 28) + "ns" // 31 characters, and too much
	for text, want := range map[string]float64{
		"1s": 1000, "0s": 0, "9s": 9000, "-1s": -1000, "1": -1, "s": -1,
		"": -1, ":s": -1, "/s": -1, longest: -1,
		"1." + strings.Repeat("0", 28) + "s":  1000, // 31 characters
		"1." + strings.Repeat("0", 29) + "s":  -1,
		"1." + strings.Repeat("0", 100) + "s": -1,
	} {
		if got, ok := Millis([]byte(text)); ok != (want != -1) || ok && got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestGroupsUpToTheBound(t *testing.T) {
	for added, want := range map[int][]string{1: {"a", "b"}, 2: {"a", "b", others}} {
		to := map[string]*group{"a": {count: 1}}
		from := map[string]*group{"b": {count: 1}}
		if added == 2 {
			to["b"], from = &group{count: 1}, map[string]*group{"c": {count: 1}}
		}
		mergeGroups(to, from, 2)
		for _, key := range want {
			if to[key] == nil || to[key].count != 1 || len(to) != len(want) {
				t.Errorf("%d: got %v, want %q", added, to, want)
			}
		}
	}
}

func TestBytesOfWords(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for c := range 256 {
		want := c >= 0x80 || strings.ContainsRune(letters+"0123456789-_.", rune(c))
		if got := isWordByte(byte(c)); got != want {
			t.Errorf("%q: got %v, want %v", rune(c), got, want)
		}
		digit := '0' <= c && c <= '9'
		if got := string(appendPattern(nil, []byte{'x', byte(c)})) == "*"; got != digit {
			t.Errorf("a digit after x, %q: got a star %v, want %v", rune(c), got, digit)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("!", maxPattern):   strings.Repeat("!", maxPattern),
		strings.Repeat("!", maxPattern+1): strings.Repeat("!", maxPattern),
		`"`:                               `"`, `""`: `"*"`, `"a`: `"a`,
	} {
		if got := appendPattern(nil, []byte(text)); string(got) != want {
			t.Errorf("%.20q: got %d bytes %.20q, want %d", text, len(got), got, len(want))
		}
	}
}

func TestLevelsThatAreNumbers(t *testing.T) {
	for line, want := range map[string]bool{
		`{"level":0}`: false, `{"level":10}`: true, `{"level":30}`: true, `{"level":"30"}`: false,
		`{"level":null}`: false, `{"level":`: false, `{"a":1}`: false, `{"level":-1}`: false,
	} {
		var l logread.Line
		l.Reset([]byte(line))
		if got := l.IsDerived(); got != want {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
	}
}

// Of equal times, the lower index of a source comes first.
func TestOrderOfSources(t *testing.T) {
	cursors := []*cursor{{key: 5, index: 0}, {key: 5, index: 1}, {key: 6, index: 0}}
	for i, c := range []struct {
		a, b int
		want bool
	}{
		{0, 1, true}, {1, 0, false}, {0, 0, false},
		{0, 2, true}, {2, 0, false}, {1, 2, true}, {2, 1, false},
	} {
		if got := cursors[c.a].compare(cursors[c.b]) < 0; got != c.want {
			t.Errorf("%d: got %v, want %v", i, got, c.want)
		}
	}
}

func TestContextLines(t *testing.T) {
	for size, want := range map[int]string{
		0: "CF", 1: "BCDEFG", 2: "ABCDEFGH",
	} {
		c, l := &contextLines{size: size}, new(logread.Line)
		var out []byte
		for _, line := range []string{"A", "B", "C", "D", "E", "F", "G", "H", "I"} {
			out = c.append(out, echo{}, l, []byte(line), line == "C" || line == "F")
		}
		if string(out) != want {
			t.Errorf("%d lines: got %q, want %q", size, out, want)
		}
	}
	// A line that is not shown makes a gap.
	for lines, want := range map[string]string{"AbcD": "AbcD", "AbcdE": "Ab--\ndE"} {
		c, l := &contextLines{size: 1}, new(logread.Line)
		var out []byte
		for _, line := range strings.Split(lines, "") {
			out = c.append(out, echo{}, l, []byte(line), line < "a")
		}
		if string(out) != want {
			t.Errorf("%s: got %q, want %q", lines, out, want)
		}
	}
}

// echo writes lines without their breaks.
type echo struct{}

func (echo) Append(dst []byte, l *logread.Line) []byte { return append(dst, l.Bytes()...) }
