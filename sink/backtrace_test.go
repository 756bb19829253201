// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

func backtraced(c sink.BacktraceConfig, opts ...nib.Option) (*bench, *sink.Backtracer) {
	b := new(bench)
	t := sink.Backtrace(never{&b.rec, contract.TraitsFor(nil, contract.NeverLogs)}, c)
	b.logger(t, opts...)
	return b, t
}

func wantBacktraceStats(t *testing.T, got, want sink.BacktraceStats) {
	t.Helper()
	if got != want {
		t.Errorf("stats:\n got %+v\nwant %+v", got, want)
	}
}

func TestBacktraceWritesWhatLedToAnError(t *testing.T) {
	b, bt := backtraced(sink.BacktraceConfig{})
	b.log.Debug().Int("n", 1).Msg("d")
	b.log.Info().Msg("i")
	b.log.Trace().Send()
	b.log.Warn().Msg("w")
	b.want(t, `{"level":"info","message":"i"}`, `{"level":"warn","message":"w"}`)
	b.log.Error().Msg("e")
	b.want(t,
		`{"level":"debug","n":1,"message":"d","backtrace":true}`,
		`{"level":"trace","backtrace":true}`,
		`{"level":"error","message":"e"}`)
	b.log.Error().Msg("e")
	b.want(t, `{"level":"error","message":"e"}`)
	b.log.Debug().Msg("held again")
	b.want(t)
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Passed: 4, Held: 3, Dumped: 2, Pending: 1})
}

func TestBacktraceKeepsRecordsWhole(t *testing.T) {
	b, bt := backtraced(sink.BacktraceConfig{}, nib.WithCaller())
	b.clock.Advance(time.Second)
	b.log.Named("db").Debug().Msg(`a "b"`)
	b.clock.Advance(time.Second)
	b.log.Debug().Send()
	b.log.Debug().Msg("")
	must.Succeed(t, bt.Dump())
	all := b.rec.Records()
	r := all[0]
	if r.Level != nib.LevelDebug || r.Logger != "db" || r.PC == 0 ||
		r.Time != recordtest.Epoch.Add(time.Second).UnixNano() ||
		string(r.Message) != `a \"b\"` {
		t.Errorf("got %+v with the message %q", r, r.Message)
	}
	if v, ok := r.Lookup("backtrace"); !ok || string(v) != "true" {
		t.Errorf("the mark is %q in %s", v, r.Line)
	}
	if all[1].Message != nil {
		t.Errorf("a line without a message has %q", all[1].Message)
	}
	if m := all[2].Message; m == nil || len(m) != 0 {
		t.Errorf("a line with an empty message has %q", m)
	}
}

func TestBacktraceOfRecordsThatNibHasNotMade(t *testing.T) {
	for _, tt := range []struct{ line, message, want, wantMessage string }{
		{"{}\n", "", `{"backtrace":true}`, ""},
		{`{"message":"x"}` + "\n", "x", `{"message":"x","backtrace":true}`, "x"},
		{`{"message":"1}","a":1}` + "\n", "1}", `{"message":"1}","a":1,"backtrace":true}`, "1}"},
		{`{"message":"x"}` + "\n", "elsewhere", `{"message":"x","backtrace":true}`, ""},
		{"not JSON\n", "", "not JSON", ""},
		{"\n", "", "", ""},
		{"}\n", "", "}", ""},
	} {
		var rec recordtest.Recorder
		bt := sink.Backtrace(&rec, sink.BacktraceConfig{})
		must.Succeed(t, bt.WriteRecord(&nib.Record{Level: nib.LevelDebug, Line: []byte(tt.line),
			Message: []byte(tt.message)}))
		must.Succeed(t, bt.Dump())
		if r := rec.Records()[0]; string(r.Line) != tt.want+"\n" || string(r.Message) != tt.wantMessage {
			t.Errorf("%q: got %q and message %q, want %q and %q", tt.line, r.Line, r.Message, tt.want, tt.wantMessage)
		}
	}
}

func TestBacktraceMark(t *testing.T) {
	for _, tt := range []struct{ mark, want string }{
		{"", `{"level":"debug","message":"d","backtrace":true}`},
		{"late", `{"level":"debug","message":"d","late":true}`},
		{nib.OmitKey, `{"level":"debug","message":"d"}`},
	} {
		b, bt := backtraced(sink.BacktraceConfig{Mark: tt.mark})
		b.log.Debug().Msg("d")
		must.Succeed(t, bt.Dump())
		b.want(t, tt.want)
	}
}

func TestBacktraceDropsTheOldest(t *testing.T) {
	b, bt := backtraced(sink.BacktraceConfig{Bytes: 1000, Mark: nib.OmitKey})
	for i := range 100 {
		b.log.Debug().Int("n", 100+i).Msg("0123456789") // 83 bytes: 12 fit
	}
	b.log.Debug().Str("s", strings.Repeat("x", 1000)).Msg("too large")
	must.Succeed(t, bt.Dump())
	for i, f := range b.rec.FindAll("0123456789") {
		if want := float64(188 + i); f["n"] != want {
			t.Errorf("line %d: got %v, want %v", i, f["n"], want)
		}
	}
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Held: 101, Dumped: 12, Overwritten: 88, TooLarge: 1})
}

// The model of a ring keeps the newest lines whose bytes fit. The ring itself
// keeps each line contiguous, so it may hold slightly less.
func TestBacktraceKeepsTheNewestLinesInOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		limit := 64 + rnd.IntN(2000)
		var rec recordtest.Recorder
		bt := sink.Backtrace(&rec, sink.BacktraceConfig{Bytes: limit, Mark: nib.OmitKey})
		var all []string
		largest := 0
		for n := range rnd.IntN(200) {
			line := fmt.Sprintf(`{"n":%d,"s":"%s"}`, n, strings.Repeat("x", rnd.IntN(1+limit/3)))
			if len(line)+1 > limit {
				continue
			}
			all = append(all, line)
			largest = max(largest, len(line)+1)
			must.Succeed(t, bt.WriteRecord(&nib.Record{Level: nib.LevelDebug,
				Line: []byte(line + "\n")}))
		}
		must.Succeed(t, bt.Dump())
		got := rec.Lines()
		tail := all[len(all)-len(got):]
		size := 0
		for i := range got {
			size += len(got[i]) + 1
			if got[i] != tail[i] {
				t.Fatalf("round %d: line %d is %q, want %q", round, i, got[i], tail[i])
			}
		}
		if size > limit {
			t.Fatalf("round %d: %d bytes held back, want at most %d", round, size, limit)
		}
		if len(got) < len(all) && len(got) < limit/64 && size+2*largest < limit {
			t.Fatalf("round %d: %d bytes held back of %d with lines up to %d: too few", round, size, limit, largest)
		}
		s := bt.Stats()
		wantBacktraceStats(t, s, sink.BacktraceStats{Held: uint64(len(all)), Dumped: uint64(len(got)), Overwritten: uint64(len(all) - len(got))})
	}
}

func TestBacktraceCountsWhatTheSinkDoesNotTake(t *testing.T) {
	full := errors.New("disk full")
	n := 0
	var got [][]byte
	bt := sink.Backtrace(writingWith(func(r *nib.Record) error {
		if n++; n == 2 {
			return full
		}
		got = append(got, bytes.Clone(r.Line))
		return nil
	}), sink.BacktraceConfig{})
	for i := range 3 {
		_ = bt.WriteRecord(record(nib.LevelDebug, fmt.Sprintf(`{"n":%d}`, i)))
	}
	err := bt.WriteRecord(record(nib.LevelError, "{}"))
	if !errors.Is(err, full) || !strings.Contains(text(err), "1 of 3 lines held back are lost") {
		t.Errorf("got error %v", err)
	}
	if len(got) != 3 {
		t.Errorf("got %q, want two lines held back and the error", got)
	}
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Passed: 1, Held: 3, Dumped: 2, Failed: 1})
}

func TestBacktraceSurvivesASinkThat(t *testing.T) {
	for name, act := range map[string]func(){
		"panics":             func() { panic("boom") },
		"ends the goroutine": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			broken := true
			p := writingWith(func(*nib.Record) error {
				if broken {
					act()
				}
				return nil
			})
			bt := sink.Backtrace(p, sink.BacktraceConfig{})
			_ = bt.WriteRecord(record(nib.LevelDebug, "{}"))
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				_ = bt.Dump()
			}()
			<-done
			broken = false
			_ = bt.WriteRecord(record(nib.LevelDebug, "{}"))
			must.Succeed(t, bt.Dump())
			wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Held: 2, Dumped: 1, Failed: 1})
		})
	}
}

// A line that makes the sink panic costs neither the others nor the trigger.
func TestBacktraceGoesOnAfterALineThatMakesTheSinkPanic(t *testing.T) {
	for name, begin := range map[string]func(*sink.Backtracer) nib.Sink{
		"Backtracer": func(bt *sink.Backtracer) nib.Sink { return bt },
		"Scope":      func(bt *sink.Backtracer) nib.Sink { return bt.Scope() },
	} {
		t.Run(name, func(t *testing.T) {
			rec := writingWith(func(r *nib.Record) error {
				if strings.Contains(string(r.Line), "poison") {
					panic("boom")
				}
				return nil
			})
			bt := sink.Backtrace(rec, sink.BacktraceConfig{Mark: nib.OmitKey})
			s := begin(bt)
			for _, line := range []string{`{"n":1}`, `{"n":"poison"}`, `{"n":2}`} {
				_ = s.WriteRecord(record(nib.LevelDebug, line))
			}
			err := s.WriteRecord(record(nib.LevelError, `{"n":3}`))
			if got := text(err); !strings.Contains(got, "1 of 3 lines held back are lost: the sink panicked: boom") {
				t.Errorf("got error %q", got)
			}
			wantLines(t, rec, "sink", `{"n":1}`, `{"n":2}`, `{"n":3}`)
			wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Passed: 1, Held: 3, Dumped: 2, Failed: 1})
		})
	}
}

// A sink that logs while a backtrace is written must not block on a lock.
func TestBacktraceHoldsNoLockThatItsSinkNeeds(t *testing.T) {
	for name, begin := range map[string]func(*sink.Backtracer) nib.Sink{
		"Backtracer": func(bt *sink.Backtracer) nib.Sink { return bt },
		"Scope":      func(bt *sink.Backtracer) nib.Sink { return bt.Scope() },
	} {
		t.Run(name, func(t *testing.T) {
			var s nib.Sink
			p := new(recordtest.Recorder)
			p.WriteWith(func(r *nib.Record) error {
				if r.Level == nib.LevelDebug {
					_ = s.WriteRecord(record(nib.LevelTrace, "{}"))
					_ = s.WriteRecord(record(nib.LevelError, "{}"))
				}
				return nil
			})
			s = begin(sink.Backtrace(p, sink.BacktraceConfig{}))
			_ = s.WriteRecord(record(nib.LevelDebug, "{}"))
			_ = s.WriteRecord(record(nib.LevelError, "{}"))
			if p.Len() != 4 {
				t.Errorf("got %q, want all four lines", p.Lines())
			}
		})
	}
}

// A line that another goroutine logs during a dump comes after it.
func TestScopeKeepsLinesInOrderDuringADump(t *testing.T) {
	var s *sink.Scope
	done := make(chan struct{})
	p := new(recordtest.Recorder)
	p.WriteWith(func(r *nib.Record) error {
		if strings.Contains(string(r.Line), `"n":0`) {
			go func() {
				defer close(done)
				_ = s.WriteRecord(record(nib.LevelDebug, `{"n":2}`))
			}()
			for range 1000 {
				runtime.Gosched() // give the other goroutine the chance to be first
			}
		}
		return nil
	})
	s = sink.Backtrace(never{p, contract.TraitsFor(nil, contract.NeverLogs)}, sink.BacktraceConfig{Mark: nib.OmitKey}).Scope()
	_ = s.WriteRecord(record(nib.LevelDebug, `{"n":0}`))
	_ = s.WriteRecord(record(nib.LevelDebug, `{"n":1}`))
	must.Succeed(t, s.Dump())
	<-done
	wantLines(t, p, "sink", "{\"n\":0}", "{\"n\":1}", "{\"n\":2}")
}

// never is a sink that never logs.
type never struct {
	nib.Sink
	contract.TraitSet
}

func TestBacktraceBoundsTheNumberOfLines(t *testing.T) {
	bt := sink.Backtrace(newQuiet(), sink.BacktraceConfig{Bytes: 1280, Mark: nib.OmitKey})
	for range 100 {
		_ = bt.WriteRecord(record(nib.LevelDebug, "{}"))
	}
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Held: 100, Overwritten: 80, Pending: 20})
}

func TestBacktraceCountsExactlyWithManyGoroutines(t *testing.T) {
	const goroutines, lines = 16, 300
	b, bt := backtraced(sink.BacktraceConfig{Bytes: 5000})
	await.Goroutines(goroutines, func(g int) {
		for i := range lines {
			b.log.Debug().Int("g", g).Int("n", i).Msg("d")
			b.log.Info().Msg("i")
			if i%50 == 49 {
				b.log.Error().Msg("e")
			}
		}
	})
	s := bt.Stats()
	if s.Passed != goroutines*(lines+lines/50) || s.Held != goroutines*lines || s.Held != s.Dumped+s.Overwritten+s.Pending {
		t.Errorf("stats: %+v", s)
	}
	last := map[any]float64{}
	dumped := b.rec.FindAll("d")
	for _, f := range dumped {
		if n, ok := last[f["g"]]; ok && f["n"].(float64) <= n || f["backtrace"] != true {
			t.Fatalf("goroutine %v: line %v after %v, backtrace %v", f["g"], f["n"], n, f["backtrace"])
		}
		last[f["g"]] = f["n"].(float64)
	}
	if uint64(len(dumped)) != s.Dumped {
		t.Errorf("%d lines have arrived, want %d", len(dumped), s.Dumped)
	}
}

func TestBacktraceConfigIsValidated(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    sink.BacktraceConfig
		want string
	}{
		{"zero", sink.BacktraceConfig{}, ""},
		{"trigger", sink.BacktraceConfig{Level: nib.LevelError}, "Trigger error is not above Level error"},
		{"bytes", sink.BacktraceConfig{Bytes: -1}, "Bytes is -1"},
		{"many bytes", sink.BacktraceConfig{Bytes: 1<<30 + 1}, "Bytes is 1073741825"},
		{"mark", sink.BacktraceConfig{Mark: "a\nb"}, `Mark "a\nb" is not plain ASCII`},
		{"quote", sink.BacktraceConfig{Mark: `a"b`}, "is not plain ASCII"},
	} {
		if got := text(tt.c.Validate()); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
