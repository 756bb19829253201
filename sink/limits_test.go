// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/counttest"
	"github.com/nib-log/nib/metrics"
)

func TestLimitsOfABacktraceConfig(t *testing.T) {
	for _, c := range []struct {
		config BacktraceConfig
		valid  bool
	}{
		{BacktraceConfig{Level: nib.LevelWarn, Trigger: nib.LevelWarn}, false},
		{BacktraceConfig{Level: nib.LevelWarn, Trigger: nib.LevelWarn + 1}, true},
		{BacktraceConfig{Bytes: -1}, false}, {BacktraceConfig{Bytes: 1}, true},
		{BacktraceConfig{Bytes: maxRing}, true}, {BacktraceConfig{Bytes: maxRing + 1}, false},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: got %v, want valid: %v", c.config, err, c.valid)
		}
	}
	for b := range 256 {
		mark := string([]byte{byte(b)})
		err := BacktraceConfig{Mark: mark}.Validate()
		if want := ' ' <= b && b <= '~' && b != '"' && b != '\\'; (err == nil) != want {
			t.Errorf("the mark %q: got %v, want valid: %v", mark, err, want)
		}
	}
}

// Lines below Level are held back, and lines from Trigger on write them.
func TestLevelsOfABacktrace(t *testing.T) {
	const level, trigger = nib.LevelInfo + 1, nib.LevelError + 1
	for name, sinkOf := range map[string]func(b *Backtracer) nib.Sink{
		"backtracer": func(b *Backtracer) nib.Sink { return b },
		"scope":      func(b *Backtracer) nib.Sink { return b.Scope() },
	} {
		for l, want := range map[nib.Level]BacktraceStats{
			level - 1:   {Held: 2, Pending: 2},
			level:       {Passed: 1, Held: 1, Pending: 1},
			trigger - 1: {Passed: 1, Held: 1, Pending: 1},
			trigger:     {Passed: 1, Held: 1, Dumped: 1},
		} {
			b := Backtrace(Discard(), BacktraceConfig{Level: level, Trigger: trigger})
			s := sinkOf(b)
			_ = s.WriteRecord(&nib.Record{Level: nib.LevelTrace, Line: []byte("{}\n")})
			_ = s.WriteRecord(&nib.Record{Level: l, Line: []byte("{}\n")})
			if got := b.Stats(); got != want {
				t.Errorf("%s, level %v: got %+v, want %+v", name, l, got, want)
			}
		}
	}
}

func TestLinesThatFillARing(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int // of lines, also of a line that does not fit
		kept  []int // indexes of sizes
	}{
		{"a line of the size of the ring", []int{256}, []int{0}},
		{"a line of one byte more", []int{10, 257}, []int{0}},
		{"two halves", []int{128, 128}, []int{0, 1}},
		{"two halves and one byte", []int{128, 128, 1}, []int{1, 2}},
		{"three halves", []int{128, 128, 128}, []int{1, 2}},
		{"two halves and a longer line", []int{128, 128, 129}, []int{2}},
		{"a gap of the size of a line", []int{100, 100, 60, 40}, []int{1, 2, 3}},
		{"after a line of one byte", []int{1, 255, 1, 10}, []int{2, 3}},
		{"a gap that is too short", []int{100, 100, 60, 41}, []int{2, 3}},
	} {
		g := &ring{limit: 256}
		for i, size := range c.sizes {
			line := strings.Repeat(string(rune('a'+i)), size)
			g.put(&nib.Record{Line: []byte(line)}, "")
		}
		var got, want []string
		for i := range g.count {
			got = append(got, string(g.record(i).Line))
		}
		for _, i := range c.kept {
			want = append(want, strings.Repeat(string(rune('a'+i)), c.sizes[i]))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

func TestARingGrowsByOneByte(t *testing.T) {
	g := &ring{limit: 256}
	for size := 1; size < 200; size++ {
		g.reset()
		line := strings.Repeat("x", size)
		g.put(&nib.Record{Line: []byte(line)}, "")
		if got := string(g.record(0).Line); got != line {
			t.Fatalf("got a line of %d bytes, want %d", len(got), size)
		}
	}
}

func TestOffsetOfAMessage(t *testing.T) {
	line := []byte("abcab")[:5:5]
	longer := append(make([]byte, 0, cap(line)+1), "ca"...)
	for name, c := range map[string]struct {
		line, message []byte
		at            int
		ok            bool
	}{
		"none":                       {line, nil, 0, false},
		"at the beginning":           {line, line[:2], 0, true},
		"in the middle":              {line, line[2:4], 2, true},
		"at the end":                 {line, line[3:], 3, true},
		"of other memory":            {line, longer, 2, true},
		"at the beginning, a copy":   {line, []byte("abc"), 0, true},
		"of one byte after the line": {line[:3], line[2:4], -1, false},
		"another one":                {line, []byte("x"), -1, false},
	} {
		at, ok := offset(c.line, c.message)
		if at != c.at || ok != c.ok {
			t.Errorf("%s: got %d, %v, want %d, %v", name, at, ok, c.at, c.ok)
		}
	}
}

func TestSizesOfATable(t *testing.T) {
	for n, want := range map[int]bool{
		-1: false, 0: true, 1: true, maxRemembered: true, maxRemembered + 1: false,
	} {
		if err := validSize("Limit", n); (err == nil) != want {
			t.Errorf("%d: got %v, want valid: %v", n, err, want)
		}
	}
}

func TestCountersOfABacktrace(t *testing.T) {
	b := Backtrace(Discard(), BacktraceConfig{})
	b.passed.Store(1)
	b.held.Store(100)
	b.dumped.Store(2)
	b.discarded.Store(3)
	b.overwritten.Store(4)
	b.tooLarge.Store(5)
	b.gone.Store(6)
	want := BacktraceStats{
		Passed: 1, Held: 100, Dumped: 2, Discarded: 3, Overwritten: 4, TooLarge: 5,
		Failed: 6, Pending: 80,
	}
	if got := b.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, b, want, map[string]string{
		"Passed": "nib_backtrace_passed_lines_total", "Held": "nib_backtrace_held_lines_total",
		"Dumped":      "nib_backtrace_dumped_lines_total",
		"Discarded":   `nib_backtrace_dropped_lines_total{reason="discarded"}`,
		"Overwritten": `nib_backtrace_dropped_lines_total{reason="overwritten"}`,
		"TooLarge":    `nib_backtrace_dropped_lines_total{reason="too_large"}`,
		"Failed":      `nib_backtrace_dropped_lines_total{reason="failed"}`,
		"Pending":     "nib_backtrace_pending_lines",
	})
}

func TestCountersOfASuppressor(t *testing.T) {
	g := Limit(Discard(), LimitConfig{})
	g.passed[levelIndex(nib.LevelInfo)].Store(1)
	g.passed[levelIndex(nib.LevelWarn)].Store(2)
	g.suppressed[levelIndex(nib.LevelInfo)].Store(4)
	g.suppressed[levelIndex(nib.LevelError)].Store(8)
	g.announced.Store(5)
	g.owing.Store(7)
	g.forgotten.Store(6)
	want := SuppressionStats{
		Taken: 15, Passed: 3, Suppressed: 12, Announced: 5, Owed: 7, Forgotten: 6,
	}
	if got := g.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, g, want, map[string]string{
		"Taken": "", "Owed": "", // sums and differences of the others
		"Passed":     "nib_limit_passed_lines_total",
		"Suppressed": "nib_limit_suppressed_lines_total",
		"Announced":  "nib_limit_announced_lines_total",
		"Forgotten":  "nib_limit_forgotten_total",
	})
	levels := struct{ PassedInfo, PassedWarn, SuppressedInfo, SuppressedError uint64 }{1, 2, 4, 8}
	counttest.Shown(t, g, levels, map[string]string{
		"PassedInfo":      `nib_limit_passed_lines_total{level="info"}`,
		"PassedWarn":      `nib_limit_passed_lines_total{level="warn"}`,
		"SuppressedInfo":  `nib_limit_suppressed_lines_total{level="info"}`,
		"SuppressedError": `nib_limit_suppressed_lines_total{level="error"}`,
	})
}

func TestCountersOfAFilter(t *testing.T) {
	f := Filter(Discard(), func(*nib.Record) bool { return true }).(*filter)
	f.passed.Store(1)
	f.dropped.Store(2)
	f.faults.Store(3)
	counts := struct{ Passed, Dropped, Faults uint64 }{1, 2, 3}
	counttest.Shown(t, metrics.Of(f), counts, map[string]string{
		"Passed": "nib_filter_passed_lines_total", "Dropped": "nib_filter_dropped_lines_total",
		"Faults": "nib_filter_faults_total",
	})
}
