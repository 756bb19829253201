// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink"
)

// A bench is a combinator that writes to a recorder, with a logger and a fake
// clock.
type bench struct {
	rec   recordtest.Recorder
	clock nibtest.Clock
	log   *nib.Logger
}

func (b *bench) logger(s nib.Sink, opts ...nib.Option) {
	b.log = nib.NewSink(s, append([]nib.Option{nib.WithClock(b.clock.Now), nib.WithLevel(nib.LevelTrace)}, opts...)...)
}

// want compares the lines since the last call, without their times.
func (b *bench) want(t *testing.T, want ...string) {
	t.Helper()
	got := b.rec.Lines()
	b.rec.Reset()
	for i := range got {
		f, err := recordtest.Decode([]byte(got[i] + "\n"))
		if err != nil || f["time"] == nil || f["level"] == nil {
			t.Errorf("not a line of nib's: %v: %s", err, got[i])
		}
		got[i] = "{" + got[i][strings.Index(got[i], `"level"`):]
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("lines:\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func limited(c sink.LimitConfig, opts ...nib.Option) (*bench, *sink.Suppressor) {
	b := new(bench)
	c.Now = b.clock.Now
	l := sink.Limit(&b.rec, c)
	b.logger(l, opts...)
	return b, l
}

func wantStats(t *testing.T, got, want sink.SuppressionStats) {
	t.Helper()
	if got != want {
		t.Errorf("stats:\n got %+v\nwant %+v", got, want)
	}
}

func TestLimitLetsTheBurstPassAndThenTheRate(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{PerSecond: 2, Burst: 3}})
	for range 5 {
		b.log.Info().Msg("x")
	}
	b.want(t, `{"level":"info","message":"x"}`, `{"level":"info","message":"x"}`, `{"level":"info","message":"x"}`)
	b.clock.Advance(499 * time.Millisecond)
	b.log.Info().Msg("x")
	b.want(t)
	b.clock.Advance(time.Millisecond)
	b.log.Info().Msg("x")
	b.want(t, `{"level":"info","of":"x","count":3,"message":"lines suppressed"}`, `{"level":"info","message":"x"}`)
	b.clock.Advance(time.Hour)
	for range 5 {
		b.log.Info().Msg("x")
	}
	b.want(t, `{"level":"info","message":"x"}`, `{"level":"info","message":"x"}`, `{"level":"info","message":"x"}`)
	wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 12, Passed: 7, Suppressed: 5, Announced: 3, Owed: 2})
}

func TestLimitAnnouncesBeforeTheNextLineOfAnySite(t *testing.T) {
	b, _ := limited(sink.LimitConfig{PerSite: sink.Rate{PerSecond: 1, Burst: 1}})
	b.log.Info().Msg("a")
	b.log.Info().Msg("a")
	b.log.Warn().Msg("b")
	b.want(t, `{"level":"info","message":"a"}`,
		`{"level":"info","of":"a","count":1,"message":"lines suppressed"}`, `{"level":"warn","message":"b"}`)

	b.log.Info().Msg("a")
	b.log.Warn().Msg("c")
	b.want(t, `{"level":"warn","message":"c"}`) // less than a second after the last count line
	b.clock.Advance(999 * time.Millisecond)
	b.log.Warn().Msg("d")
	b.want(t, `{"level":"warn","message":"d"}`)
	b.clock.Advance(time.Millisecond)
	b.log.Warn().Msg("e")
	b.want(t, `{"level":"info","of":"a","count":1,"message":"lines suppressed"}`, `{"level":"warn","message":"e"}`)
}

func TestLimitAnnouncesWhenFlushed(t *testing.T) {
	for name, flush := range map[string]func(*bench, *sink.Suppressor) error{
		"Logger.Flush":  func(b *bench, _ *sink.Suppressor) error { return b.log.Flush(t.Context()) },
		"Limiter.Flush": func(_ *bench, l *sink.Suppressor) error { return l.Flush(t.Context()) },
		"Close":         func(_ *bench, l *sink.Suppressor) error { return l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			b, l := limited(sink.LimitConfig{PerSite: sink.Rate{Burst: 1}})
			for range 10 {
				b.log.Info().Msg("x")
				b.log.Error().Msg("y")
			}
			b.rec.Reset()
			for range 2 {
				must.Succeed(t, flush(b, l))
			}
			lines := b.rec.Lines()
			if len(lines) != 2 || strings.Count(strings.Join(lines, ""), `"count":9`) != 2 {
				t.Errorf("got %q, want a count of 9 for each of two messages", lines)
			}
			wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 20, Passed: 2, Suppressed: 18, Announced: 18})
		})
	}
}

func TestLimitRefusesLinesAfterClose(t *testing.T) {
	b, l := limited(sink.LimitConfig{})
	must.Succeed(t, l.Close())
	if err := l.WriteRecord(record(nib.LevelInfo, "{}")); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("got error %v, want %v", err, delivery.ErrClosed)
	}
	b.want(t)
	wantStats(t, l.Stats(), sink.SuppressionStats{})
}

func TestLimitDistinguishesCallSites(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{Burst: 2}}, nib.WithCaller())
	_, _, line, _ := runtime.Caller(0)
	for i := range 5 {
		b.log.Info().Msg(fmt.Sprint("value ", i))
		b.log.Info().Msg("other")
	}
	b.rec.Reset()
	must.Succeed(t, l.Flush(t.Context()))
	got := map[string]bool{}
	for _, r := range b.rec.Records() {
		caller, _ := r.Lookup("caller")
		count, _ := r.Lookup("count")
		_, of := r.Lookup("of")
		got[fmt.Sprintf("%s %s %v", caller, count, of)] = true
		if r.PC == 0 || r.Level != nib.LevelInfo || string(r.Message) != suppressedMessage {
			t.Errorf("the record of the count line is %+v", r)
		}
	}
	for _, want := range []string{
		fmt.Sprintf(`"sink/limit_test.go:%d" 3 false`, line+2),
		fmt.Sprintf(`"sink/limit_test.go:%d" 3 false`, line+3),
	} {
		if !got[want] {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestLimitDistinguishesLevelsOfACallSite(t *testing.T) {
	b, l := limited(sink.LimitConfig{
		PerSite:   sink.Rate{Burst: 2},
		PerSiteAt: map[nib.Level]sink.Rate{nib.LevelError: {}, nib.LevelDebug: {Burst: 1}},
	}, nib.WithCaller())
	for range 4 {
		for _, level := range []nib.Level{nib.LevelDebug, nib.LevelInfo, nib.LevelInfo + 1, nib.LevelError} {
			b.log.At(level).Msg("x")
		}
	}
	got := map[string]int{}
	for _, r := range b.rec.Records() {
		if string(r.Message) == "x" {
			got[r.Level.String()]++
		}
	}
	// info+1 counts as info: two lines of the two levels together.
	if want := map[string]int{"debug": 1, "info": 1, "info+1": 1, "error": 4}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("passed: got %v, want %v", got, want)
	}
	if s := l.Stats(); s.Taken != 16 || s.Passed != 7 {
		t.Errorf("stats: %+v", s)
	}
}

func TestLimitOfALevelHoldsForAllSites(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerLevel: map[nib.Level]sink.Rate{nib.LevelDebug: {Burst: 3}}})
	for i := range 10 {
		b.log.Debug().Msg(fmt.Sprint(i))
	}
	b.log.Info().Msg("x")
	b.want(t, `{"level":"debug","message":"0"}`, `{"level":"debug","message":"1"}`, `{"level":"debug","message":"2"}`,
		`{"level":"debug","count":7,"message":"lines suppressed"}`, `{"level":"info","message":"x"}`)
	wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 11, Passed: 4, Suppressed: 7, Announced: 7})
}

func TestLimitTakesTokensOfSiteAndLevelTogether(t *testing.T) {
	b, l := limited(sink.LimitConfig{
		PerSite:  sink.Rate{Burst: 2},
		PerLevel: map[nib.Level]sink.Rate{nib.LevelInfo: {PerSecond: 1, Burst: 1}},
	})
	b.log.Info().Msg("a")
	b.log.Info().Msg("a") // the level has no token; the site keeps its token
	b.clock.Advance(time.Second)
	b.log.Info().Msg("a")
	b.clock.Advance(time.Second)
	b.log.Info().Msg("a") // the site has no token; the level keeps its token
	b.log.Info().Msg("b")
	b.want(t, `{"level":"info","message":"a"}`,
		`{"level":"info","count":1,"message":"lines suppressed"}`, `{"level":"info","message":"a"}`,
		`{"level":"info","of":"a","count":1,"message":"lines suppressed"}`, `{"level":"info","message":"b"}`)
	wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 5, Passed: 3, Suppressed: 2, Announced: 2})
}

func TestLimitEvictsTheLeastRecentlyUsedSite(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{Burst: 1}, MaxSites: 8})
	passes := func(i int) bool {
		before := l.Stats().Passed
		b.log.Info().Msg(fmt.Sprint("m", i))
		return l.Stats().Passed > before
	}
	for i, want := range []bool{true, false, true} {
		if got := passes(i / 2); got != want { // 0, 0, 1: the second line is reported before the third
			t.Fatalf("line %d passes: %v", i, got)
		}
	}
	for _, x := range []struct {
		message int
		passes  bool
	}{
		{0, false}, {0, false}, {1, false}, // pending from here on, since less than a second has passed
		{2, true}, {3, true}, {4, true}, {5, true}, {6, true}, {7, true}, // the table is full
		{8, true},              // replaces 0, whose count is added to its level
		{1, false}, {2, false}, // known
		{0, true},              // new, replaces 3
		{8, false}, {4, false}, // known
		{3, true}, // new
	} {
		if got := passes(x.message); got != x.passes {
			t.Errorf("message %d passes: %v, want %v", x.message, got, x.passes)
		}
	}
	if got := l.Stats(); got.Forgotten != 3 {
		t.Errorf("stats: %+v, want 3 forgotten", got)
	}
	b.rec.Reset()
	must.Succeed(t, l.Flush(t.Context()))
	if got, want := b.rec.Lines()[0], `"level":"info","count":2,"message":"lines suppressed"}`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 19, Passed: 11, Suppressed: 8, Announced: 8, Forgotten: 3})
}

// The goroutines of two lines may read the clock in one order and reach the
// bucket in the other.
func TestLimitAllowsForReadingsOutOfOrder(t *testing.T) {
	for name, c := range map[string]sink.LimitConfig{
		"site":  {PerSite: sink.Rate{PerSecond: 1, Burst: 1}},
		"level": {PerLevel: map[nib.Level]sink.Rate{nib.LevelInfo: {PerSecond: 1, Burst: 1}}},
	} {
		b, l := limited(c)
		for _, x := range []struct {
			at     time.Duration
			passed uint64
		}{{0, 1}, {-50 * time.Millisecond, 1}, {960 * time.Millisecond, 1}, {time.Second, 2}} {
			b.clock.Advance(recordtest.Epoch.Add(x.at).Sub(b.clock.Now()))
			b.log.Info().Msg("x")
			if got := l.Stats().Passed; got != x.passed {
				t.Errorf("%s: at %v %d lines have passed, want %d", name, x.at, got, x.passed)
			}
		}
	}
}

func TestLimitReportsLaterWhenTheSinkFails(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{PerSecond: 1, Burst: 1}})
	for range 4 {
		b.log.Info().Msg("x")
	}
	b.rec.Reset()
	full := errors.New("disk full")
	b.rec.FailWith(full)
	if err := l.Flush(t.Context()); !errors.Is(err, full) {
		t.Errorf("Flush: got error %v, want %v", err, full)
	}
	b.clock.Advance(time.Second)
	if err := l.WriteRecord(&nib.Record{Line: []byte("{}\n"), Message: []byte("x")}); !errors.Is(err, full) {
		t.Errorf("WriteRecord: got error %v, want %v", err, full)
	}
	b.rec.FailWith(nil)
	b.clock.Advance(time.Second)
	b.log.Info().Msg("x")
	b.want(t, `{"level":"info","of":"x","count":3,"message":"lines suppressed"}`, `{"level":"info","message":"x"}`)
	wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 6, Passed: 3, Suppressed: 3, Announced: 3})
}

func TestLimitReportsLaterWhenTheSink(t *testing.T) {
	for name, act := range map[string]func(){
		"panics":             func() { panic("boom") },
		"ends the goroutine": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			broken := false
			p := writingWith(func(*nib.Record) error {
				if broken {
					act()
				}
				return nil
			})
			l := sink.Limit(p, sink.LimitConfig{PerSite: sink.Rate{Burst: 1}})
			for range 3 {
				_ = l.WriteRecord(record(nib.LevelInfo, "{}"))
			}
			broken = true
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = l.Close()
			}()
			<-done
			wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 3, Passed: 1, Suppressed: 2, Owed: 2})
			broken = false
			must.Succeed(t, l.Close())
			wantStats(t, l.Stats(), sink.SuppressionStats{Taken: 3, Passed: 1, Suppressed: 2, Announced: 2})
		})
	}
}

func TestLimitGoesOnWhenTheClockIsSetBack(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{PerSecond: 1, Burst: 2}})
	for range 3 {
		b.log.Info().Msg("x")
	}
	b.clock.Advance(-24 * time.Hour)
	b.log.Info().Msg("x")
	b.clock.Advance(time.Second)
	b.log.Info().Msg("x")
	if got := l.Stats().Passed; got != 3 {
		t.Errorf("passed %d lines, want 3: the bucket is empty when the clock has been set back, and fills from then on", got)
	}
}

func TestLimitAnnouncesWhenTheClockWasSetBack(t *testing.T) {
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{Burst: 1}})
	for range 2 {
		b.log.Info().Msg("a")
	}
	b.log.Info().Msg("b")
	b.clock.Advance(-24 * time.Hour)
	for range 2 {
		b.log.Info().Msg("c")
	}
	b.clock.Advance(time.Second)
	b.log.Info().Msg("d")
	if s := l.Stats(); s.Owed != 0 || s.Announced != 2 {
		t.Errorf("got %+v, want no line that is not reported", s)
	}
}

func TestLimitCountsExactlyWithManyGoroutines(t *testing.T) {
	const goroutines, lines, messages = 16, 500, 20
	b, l := limited(sink.LimitConfig{
		PerSite:  sink.Rate{Burst: 7},
		PerLevel: map[nib.Level]sink.Rate{nib.LevelWarn: {Burst: 50}},
	})
	await.Goroutines(goroutines, func(g int) {
		for i := range lines {
			b.log.Info().Int("g", g).Msg("message " + string(rune('a'+i%messages)))
			b.log.Warn().Msg("message " + string(rune('a'+i%messages)))
		}
	})
	must.Succeed(t, b.log.Flush(t.Context()))
	const all, passed = 2 * goroutines * lines, 7*messages + 50
	wantStats(t, l.Stats(), sink.SuppressionStats{Taken: all, Passed: passed, Suppressed: all - passed, Announced: all - passed})
	announced := 0
	for _, f := range b.rec.FindAll(suppressedMessage) {
		announced += int(f["count"].(float64))
	}
	if announced != all-passed {
		t.Errorf("the count lines announce %d lines, want %d", announced, all-passed)
	}
	if got := b.rec.Len() - len(b.rec.FindAll(suppressedMessage)); got != passed {
		t.Errorf("%d lines have arrived, want %d", got, passed)
	}
}

func TestLimitUsesTheLayout(t *testing.T) {
	layout := nib.Layout{TimeKey: "ts", LevelKey: "severity", MessageKey: "msg"}
	b, l := limited(sink.LimitConfig{PerSite: sink.Rate{Burst: 1}, Layout: layout}, nib.WithLayout(layout))
	b.log.Info().Msg("x")
	b.log.Info().Msg("x")
	must.Succeed(t, l.Flush(t.Context()))
	if got, want := b.rec.Last(), `{"ts":"2026-01-02T15:04:05.000Z","severity":"info","of":"x","count":1,"msg":"lines suppressed"}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestLimitConfigIsValidated(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    sink.LimitConfig
		want string
	}{
		{"zero", sink.LimitConfig{}, ""},
		{"no limit", sink.LimitConfig{PerSite: sink.Rate{PerSecond: math.Inf(1)}}, ""},
		{"negative rate", sink.LimitConfig{PerSite: sink.Rate{PerSecond: -1}}, "PerSite: PerSecond is -1, want 0 or more"},
		{"not a number", sink.LimitConfig{PerSite: sink.Rate{PerSecond: math.NaN()}}, "PerSecond is NaN, want 0 or more"},
		{"negative burst", sink.LimitConfig{PerLevel: map[nib.Level]sink.Rate{nib.LevelInfo: {Burst: -1}}}, "PerLevel info: Burst is -1, want 0 or more"},
		{"unnamed level", sink.LimitConfig{PerSiteAt: map[nib.Level]sink.Rate{1: {Burst: 1}}}, "PerSiteAt: level info+1 has no name of its own, want info or"},
		{"size", sink.LimitConfig{MaxSites: -1}, "MaxSites is -1"},
		{"two faults", sink.LimitConfig{MaxSites: 1 << 30, PerSite: sink.Rate{Burst: -1}}, "PerSite: Burst is -1, want 0 or more\nnib/sink: MaxSites is 1073741824"},
	} {
		if got := text(tt.c.Validate()); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRatesAtTheEdges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rate   sink.Rate
		step   time.Duration
		passed uint64 // of 100 lines, step apart
	}{
		{"no limit", sink.Rate{}, 0, 100},
		{"infinite", sink.Rate{PerSecond: math.Inf(1)}, 0, 100},
		{"more than one per nanosecond", sink.Rate{PerSecond: 1e12, Burst: 5}, 1, 100},
		{"burst only", sink.Rate{Burst: 5}, 24 * time.Hour, 5},
		{"large burst only", sink.Rate{Burst: 50}, 1 << 59, 50},
		{"hardly any", sink.Rate{PerSecond: 1e-300, Burst: 1}, 24 * time.Hour, 1},
		{"one a second", sink.Rate{PerSecond: 1}, 100 * time.Millisecond, 10},
		{"default burst", sink.Rate{PerSecond: 9.5}, 0, 10},
		{"less than one", sink.Rate{PerSecond: 0.5}, time.Second, 50},
		{"largest burst", sink.Rate{PerSecond: 1, Burst: math.MaxInt32}, 0, 100},
	} {
		b, l := limited(sink.LimitConfig{PerSite: tt.rate})
		for range 100 {
			b.log.Info().Msg("x")
			b.clock.Advance(tt.step)
		}
		if got := l.Stats().Passed; got != tt.passed {
			t.Errorf("%s: %d lines passed, want %d", tt.name, got, tt.passed)
		}
	}
}
