// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink"
)

// combinators lists all combinators, each around a sink and configured to
// forward every line.
var combinators = []struct {
	name string
	wrap func(nib.Sink) nib.Sink
}{
	{"Tee", func(s nib.Sink) nib.Sink { return sink.Tee(newQuiet(), s, newQuiet()) }},
	{"Route", func(s nib.Sink) nib.Sink { return sink.Route(newQuiet(), sink.AtLeast(nib.LevelInfo, s)) }},
	{"Filter", func(s nib.Sink) nib.Sink { return sink.Filter(s, func(*nib.Record) bool { return true }) }},
	{"Named", func(s nib.Sink) nib.Sink { return sink.Named("x", s) }},
	{"Limit", func(s nib.Sink) nib.Sink {
		return sink.Limit(s, sink.LimitConfig{
			PerSite:  sink.Rate{Burst: 1 << 20},
			PerLevel: map[nib.Level]sink.Rate{nib.LevelInfo: {PerSecond: 1e9, Burst: 1 << 20}},
		})
	}},
	{"Limit without limits", func(s nib.Sink) nib.Sink { return sink.Limit(s, sink.LimitConfig{}) }},
	{"Sample", func(s nib.Sink) nib.Sink {
		return sink.Sample(s, sink.SampleConfig{Keep: sink.Share{First: 100, Every: 1}})
	}},
	{"Backtrace", func(s nib.Sink) nib.Sink { return sink.Backtrace(s, sink.BacktraceConfig{}) }},
	{"Scope", func(s nib.Sink) nib.Sink { return sink.Backtrace(s, sink.BacktraceConfig{}).Scope() }},
	{"open Scope", func(s nib.Sink) nib.Sink {
		scope := sink.Backtrace(s, sink.BacktraceConfig{Level: nib.LevelWarn}).Scope()
		_ = scope.Dump()
		return scope
	}},
	{"all", func(s nib.Sink) nib.Sink {
		s = sink.Tee(sink.Backtrace(s, sink.BacktraceConfig{}))
		s = sink.Sample(sink.Limit(s, sink.LimitConfig{}), sink.SampleConfig{})
		return sink.Route(sink.Discard(), sink.AtLeast(nib.LevelInfo, sink.Named("x", s)))
	}},
}

func TestConformance(t *testing.T) {
	for _, c := range combinators {
		t.Run(c.name, func(t *testing.T) {
			nibtest.TestSink(t, func(testing.TB) (nib.Sink, func() [][]byte) {
				var rec recordtest.Recorder
				return c.wrap(&rec), func() (lines [][]byte) {
					for _, r := range rec.Records() {
						lines = append(lines, r.Line)
					}
					rec.Reset()
					return lines
				}
			})
		})
	}
}

// Lines that a Backtrace writes late must conform like those that it forwards.
func TestConformanceOfLinesHeldBack(t *testing.T) {
	nibtest.TestSink(t, func(testing.TB) (nib.Sink, func() [][]byte) {
		var rec recordtest.Recorder
		bt := sink.Backtrace(&rec, sink.BacktraceConfig{Level: nib.LevelWarn, Bytes: 16 << 20, Mark: nib.OmitKey})
		return bt, func() (lines [][]byte) {
			if err := bt.Dump(); err != nil {
				t.Error(err)
			}
			for _, r := range rec.Records() {
				lines = append(lines, r.Line)
			}
			rec.Reset()
			return lines
		}
	})
}

func TestCombinatorsForwardNeverLogs(t *testing.T) {
	for _, c := range combinators {
		if got, want := neverLogs(c.wrap(newQuiet())), c.name != "Filter"; got != want {
			t.Errorf("%s of a quiet sink: never logs %v, want %v", c.name, got, want)
		}
		if neverLogs(c.wrap(new(recordtest.Recorder))) {
			t.Errorf("%s of a loud sink never logs", c.name)
		}
	}
	for name, s := range map[string]nib.Sink{
		"Limit":  sink.Limit(newQuiet(), sink.LimitConfig{Now: time.Now}),
		"Sample": sink.Sample(newQuiet(), sink.SampleConfig{Now: time.Now}),
	} {
		if neverLogs(s) {
			t.Errorf("%s with a custom clock, which may log, never logs", name)
		}
	}
}

func TestCombinatorsRefuseNil(t *testing.T) {
	for _, c := range combinators {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of nil did not panic", c.name)
				}
			}()
			c.wrap(nil)
		}()
	}
}

// accept accepts every record and keeps nothing; a recordtest.Recorder would
// allocate.
type accept struct{}

func (accept) WriteRecord(*nib.Record) error { return nil }

func TestCombinatorsDoNotAllocate(t *testing.T) {
	r := record(nib.LevelInfo, `{"level":"info","message":"x"}`)
	r.Message = r.Line[len(`{"level":"info","message":"`):][:1]
	site := *r
	site.PC = 1
	for _, c := range combinators {
		t.Run(c.name, func(t *testing.T) {
			s := c.wrap(accept{})
			alloctest.Zero(t, func() {
				_ = s.WriteRecord(r)
				_ = s.WriteRecord(&site)
			})
		})
	}
}

// Suppressing, evicting and reporting are part of the steady state of a limit.
func TestSuppressionDoesNotAllocate(t *testing.T) {
	var clock nibtest.Clock
	message := []byte("message 0000")
	r := &nib.Record{Message: message, Line: []byte("{}\n")}
	for _, tt := range []struct {
		name string
		sink func(nib.Sink) nib.Sink
		next func()
	}{
		{"all suppressed", func(s nib.Sink) nib.Sink {
			return sink.Limit(s, sink.LimitConfig{Now: clock.Now, PerSite: sink.Rate{Burst: 1}})
		}, func() {}},
		{"announced each time", func(s nib.Sink) nib.Sink {
			return sink.Limit(s, sink.LimitConfig{Now: clock.Now, PerSite: sink.Rate{PerSecond: 1, Burst: 1}})
		}, func() { clock.Advance(400e6) }},
		{"messages without end", func(s nib.Sink) nib.Sink {
			return sink.Limit(s, sink.LimitConfig{Now: clock.Now, PerSite: sink.Rate{PerSecond: 1, Burst: 1}, MaxSites: 64})
		}, func() {
			clock.Advance(1e6)
			for i := len(message) - 1; ; i-- {
				if message[i]++; message[i] <= '9' {
					return
				} else if message[i] = '0'; i == len("message ") {
					return
				}
			}
		}},
		{"sampled", func(s nib.Sink) nib.Sink {
			return sink.Sample(s, sink.SampleConfig{Now: clock.Now, Keep: sink.Share{First: 1, Every: 5}})
		}, func() { clock.Advance(1e6) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.sink(accept{})
			alloctest.Zero(t, func() {
				_ = s.WriteRecord(r)
				_ = s.WriteRecord(r)
				tt.next()
			})
		})
	}
}

func TestHoldingBackDoesNotAllocate(t *testing.T) {
	low, high := record(nib.LevelDebug, `{"level":"debug"}`), record(nib.LevelError, `{"level":"error"}`)
	bt := sink.Backtrace(accept{}, sink.BacktraceConfig{Bytes: 1000})
	alloctest.Zero(t, func() {
		for range 30 {
			_ = bt.WriteRecord(low)
		}
		_ = bt.WriteRecord(high)
	})
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	mallocs, _ := alloctest.Count(func() {
		s := bt.Scope()
		for range 30 {
			_ = s.WriteRecord(low)
		}
		s.Discard()
	}, 1000)
	if mallocs != 1 {
		t.Errorf("a scope costs %v mallocs, want 1", mallocs)
	}
}
