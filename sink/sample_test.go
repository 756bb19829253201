// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

func sampled(c sink.SampleConfig, opts ...nib.Option) (*bench, *sink.Suppressor) {
	b := new(bench)
	c.Now = b.clock.Now
	s := sink.Sample(&b.rec, c)
	b.logger(s, opts...)
	return b, s
}

func TestSampleKeepsTheFirstAndThenEveryNth(t *testing.T) {
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 2, Every: 3}})
	for i := range 10 {
		b.log.Info().Int("n", i+1).Msg("x")
	}
	b.want(t,
		`{"level":"info","n":1,"message":"x"}`,
		`{"level":"info","n":2,"message":"x"}`,
		`{"level":"info","of":"x","count":2,"message":"lines suppressed"}`,
		`{"level":"info","n":5,"message":"x"}`,
		`{"level":"info","of":"x","count":2,"message":"lines suppressed"}`,
		`{"level":"info","n":8,"message":"x"}`)
	b.clock.Advance(time.Second)
	b.log.Info().Int("n", 11).Msg("x")
	b.want(t, `{"level":"info","of":"x","count":2,"message":"lines suppressed"}`, `{"level":"info","n":11,"message":"x"}`)
	wantStats(t, s.Stats(), sink.SuppressionStats{Taken: 11, Passed: 5, Suppressed: 6, Announced: 6})
}

func TestSampleIsOffByDefault(t *testing.T) {
	b, s := sampled(sink.SampleConfig{})
	for range 1000 {
		b.log.Info().Msg("x")
	}
	wantStats(t, s.Stats(), sink.SuppressionStats{Taken: 1000, Passed: 1000})
}

func TestSampleDistinguishesMessagesAndLevels(t *testing.T) {
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 1}, KeepAt: map[nib.Level]sink.Share{nib.LevelError: {}}})
	for range 3 {
		b.log.Info().Msg("x")
		b.log.Warn().Msg("x")
		b.log.Info().Msg("y")
		b.log.Error().Msg("x")
	}
	wantStats(t, s.Stats(), sink.SuppressionStats{Taken: 12, Passed: 6, Suppressed: 6, Owed: 6 - s.Stats().Announced, Announced: s.Stats().Announced})
	if got := b.rec.FindAll("y"); len(got) != 1 {
		t.Errorf("got %d lines y, want 1", len(got))
	}
	must.Succeed(t, s.Flush(t.Context()))
	got := map[string]float64{}
	for _, f := range b.rec.FindAll(suppressedMessage) {
		got[fmt.Sprint(f["level"], " ", f["of"])] += f["count"].(float64)
	}
	if want := map[string]float64{"info x": 2, "warn x": 2, "info y": 2}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("count lines: got %v, want %v", got, want)
	}
}

func TestSampleWithoutMessageGoesByCallSite(t *testing.T) {
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 1}}, nib.WithCaller())
	for range 3 {
		b.log.Info().Send()
		b.log.Info().Send()
	}
	if got := s.Stats().Passed; got != 2 {
		t.Errorf("passed %d lines, want 2", got)
	}
}

func TestSampleBeginsANewTickWhenTheClockIsSetBack(t *testing.T) {
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 1}, Tick: time.Minute})
	b.log.Info().Msg("x")
	b.clock.Advance(-time.Hour)
	b.log.Info().Msg("x")
	b.log.Info().Msg("x")
	if got := s.Stats().Passed; got != 2 {
		t.Errorf("passed %d lines, want 2", got)
	}
}

func TestSampleWithATickThatNeverEnds(t *testing.T) {
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 1}, Tick: math.MaxInt64})
	for range 3 {
		b.log.Info().Msg("x")
		b.clock.Advance(time.Hour)
	}
	if got := s.Stats().Passed; got != 1 {
		t.Errorf("passed %d lines, want 1", got)
	}
}

func TestSampleAllowsForReadingsOutOfOrder(t *testing.T) {
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 1}})
	for _, at := range []time.Duration{0, -50 * time.Millisecond, 999 * time.Millisecond} {
		b.clock.Advance(recordtest.Epoch.Add(at).Sub(b.clock.Now()))
		b.log.Info().Msg("x")
	}
	if got := s.Stats().Passed; got != 1 {
		t.Errorf("passed %d lines, want 1", got)
	}
}

func TestSampleNamesLongAndOddMessages(t *testing.T) {
	for _, tt := range []struct{ msg, of string }{
		{"short", "short"},
		{"a \"quoted\" \n text", "a \"quoted\" \n text"},
		{strings.Repeat("x", 56), strings.Repeat("x", 56)},
		{strings.Repeat("x", 57), strings.Repeat("x", 56)},
		{strings.Repeat("x", 55) + "ä", strings.Repeat("x", 55)},
		{strings.Repeat("x", 54) + "ää", strings.Repeat("x", 54) + "ä"},
		{strings.Repeat("x", 55) + "\n", strings.Repeat("x", 55)},
		{strings.Repeat("x", 55) + "\"y", strings.Repeat("x", 55)},
		{strings.Repeat("x", 52) + "\x01yyy", strings.Repeat("x", 52)},
		{strings.Repeat("x", 50) + "\x01yyy", strings.Repeat("x", 50) + "\x01"},
	} {
		b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 1}})
		b.log.Info().Msg(tt.msg)
		b.log.Info().Msg(tt.msg)
		must.Succeed(t, s.Flush(t.Context()))
		got, err := recordtest.Decode([]byte(b.rec.Last() + "\n"))
		if err != nil || got["of"] != tt.of {
			t.Errorf("%q: got %q, error %v, want %q", tt.msg, got["of"], err, tt.of)
		}
	}
}

// The model counts in the simplest way.
func TestSampleAgreesWithAModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		keep := sink.Share{First: rnd.IntN(5), Every: rnd.IntN(4)}
		b, s := sampled(sink.SampleConfig{Keep: keep, Tick: 10})
		type state struct {
			end time.Time
			n   int
		}
		seen := map[string]*state{}
		passed := 0
		for range 300 {
			b.clock.Advance(time.Duration(rnd.IntN(4)))
			msg := string(rune('a' + rnd.IntN(6)))
			b.log.Info().Msg(msg)
			m := seen[msg]
			if now := b.clock.Now(); m == nil || !now.Before(m.end) {
				m = &state{end: now.Add(10)}
				seen[msg] = m
			}
			m.n++
			switch {
			case keep == sink.Share{}, m.n <= keep.First, keep.Every > 0 && (m.n-keep.First)%keep.Every == 0:
				passed++
			}
		}
		if got := s.Stats(); got.Passed != uint64(passed) || got.Taken != 300 || got.Suppressed != got.Announced+got.Owed {
			t.Fatalf("%+v: got %+v, want %d passed of 300", keep, got, passed)
		}
	}
}

func TestSampleCountsExactlyWithManyGoroutines(t *testing.T) {
	const goroutines, lines, messages = 16, 600, 6
	b, s := sampled(sink.SampleConfig{Keep: sink.Share{First: 10, Every: 100}})
	await.Goroutines(goroutines, func(int) {
		for i := range lines {
			b.log.Info().Msg(string(rune('a' + i%messages)))
		}
	})
	must.Succeed(t, b.log.Flush(t.Context()))
	const all = goroutines * lines
	const passed = messages * (10 + (all/messages-10)/100)
	wantStats(t, s.Stats(), sink.SuppressionStats{Taken: all, Passed: passed, Suppressed: all - passed, Announced: all - passed})
}

func TestSampleConfigIsValidated(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    sink.SampleConfig
		want string
	}{
		{"zero", sink.SampleConfig{}, ""},
		{"first", sink.SampleConfig{Keep: sink.Share{First: -1}}, "Keep is {First:-1 Every:0}, want 0 or more"},
		{"every", sink.SampleConfig{KeepAt: map[nib.Level]sink.Share{0: {Every: -1}}}, "KeepAt info is"},
		{"level", sink.SampleConfig{KeepAt: map[nib.Level]sink.Share{-9: {}}}, "level trace-1 has no name of its own, want trace or"},
		{"tick", sink.SampleConfig{Tick: -1}, "Tick is -1ns, want 0 or more"},
		{"size", sink.SampleConfig{MaxMessages: -1}, "MaxMessages is -1"},
	} {
		if got := text(tt.c.Validate()); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
