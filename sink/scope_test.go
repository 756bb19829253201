// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

func scoped(b *bench, bt *sink.Backtracer) (*sink.Scope, *nib.Logger) {
	s := bt.Scope()
	return s, nib.NewSink(s, nib.WithClock(b.clock.Now), nib.WithLevel(nib.LevelTrace))
}

func TestScopesHoldBackTheirOwnLines(t *testing.T) {
	b, bt := backtraced(sink.BacktraceConfig{})
	one, log1 := scoped(b, bt)
	two, log2 := scoped(b, bt)
	log1.Debug().Msg("one")
	log2.Debug().Msg("two")
	log2.Info().Msg("passes")
	b.log.Debug().Msg("of no scope")
	b.want(t, `{"level":"info","message":"passes"}`)
	must.Succeed(t, one.Dump())
	b.want(t, `{"level":"debug","message":"one","backtrace":true}`)
	two.Discard()
	b.want(t)
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Passed: 1, Held: 3, Dumped: 1, Discarded: 1, Pending: 1})
}

func TestScopeIsOpenAfterATrigger(t *testing.T) {
	for name, act := range map[string]func(*sink.Scope, *nib.Logger){
		"line": func(_ *sink.Scope, l *nib.Logger) { l.Error().Msg("e") },
		"Dump": func(s *sink.Scope, _ *nib.Logger) { _ = s.Dump() },
	} {
		t.Run(name, func(t *testing.T) {
			b, bt := backtraced(sink.BacktraceConfig{Trigger: nib.LevelWarn})
			s, log := scoped(b, bt)
			log.Debug().Msg("before")
			act(s, log)
			log.Debug().Msg("after")
			s.Discard()
			log.Debug().Msg("last")
			want := []string{
				`{"level":"debug","message":"before","backtrace":true}`,
				`{"level":"error","message":"e"}`,
				`{"level":"debug","message":"after"}`,
				`{"level":"debug","message":"last"}`,
			}
			if name == "Dump" {
				want = append(want[:1], want[2:]...)
			}
			b.want(t, want...)
		})
	}
}

func TestScopeForgetsWhatComesAfterDiscard(t *testing.T) {
	b, bt := backtraced(sink.BacktraceConfig{})
	s, log := scoped(b, bt)
	log.Debug().Msg("a")
	s.Discard()
	log.Debug().Msg("b")
	log.Info().Msg("c")
	b.want(t, `{"level":"info","message":"c"}`)
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Passed: 1, Held: 2, Discarded: 2})
	log.Error().Msg("d") // from a goroutine that outlives the request
	log.Debug().Msg("e")
	b.want(t, `{"level":"error","message":"d"}`, `{"level":"debug","message":"e"}`)
}

func TestScopesCountExactlyWithManyGoroutines(t *testing.T) {
	const goroutines, scopes, lines = 16, 30, 20
	b, bt := backtraced(sink.BacktraceConfig{})
	await.Goroutines(goroutines, func(int) {
		for i := range scopes {
			s, log := scoped(b, bt)
			for range lines {
				log.Debug().Msg("d")
			}
			switch i % 3 {
			case 0:
				s.Discard()
			case 1:
				if err := s.Dump(); err != nil {
					t.Error(err)
				}
			case 2:
				log.Error().Msg("e")
			}
		}
	})
	const third = goroutines * scopes / 3
	wantBacktraceStats(t, bt.Stats(), sink.BacktraceStats{Passed: third, Held: 3 * third * lines, Dumped: 2 * third * lines, Discarded: third * lines})
	if got := len(b.rec.FindAll("d")); got != 2*third*lines {
		t.Errorf("%d lines have arrived, want %d", got, 2*third*lines)
	}
}

// Goroutines of one request share its scope.
func TestScopeIsSafeForConcurrentUse(t *testing.T) {
	b, bt := backtraced(sink.BacktraceConfig{Bytes: 1 << 20})
	s, log := scoped(b, bt)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				log.Debug().Msg("d")
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		log.Error().Msg("e")
		s.Discard()
		_ = s.Dump()
	}()
	wg.Wait()
	if got := len(b.rec.FindAll("d")); got != 1600 {
		t.Errorf("%d lines have arrived, want 1600: none is lost after a trigger", got)
	}
}

// Two dumps at once are written one after the other, if the sink never logs.
func TestDumpsDoNotMix(t *testing.T) {
	for name, dumps := range map[string]func(*sink.Backtracer) (one, two nib.Sink){
		"two Scopes":           func(bt *sink.Backtracer) (one, two nib.Sink) { return bt.Scope(), bt.Scope() },
		"Scope and Backtracer": func(bt *sink.Backtracer) (one, two nib.Sink) { return bt.Scope(), bt },
	} {
		t.Run(name, func(t *testing.T) {
			var two nib.Sink
			rec := new(recordtest.Recorder)
			done := make(chan struct{})
			rec.WriteWith(func(r *nib.Record) error {
				if strings.Contains(string(r.Line), `"one":0`) {
					go func() {
						defer close(done)
						_ = two.(interface{ Dump() error }).Dump()
					}()
					for range 1000 {
						runtime.Gosched() // give the other goroutine the chance to write
					}
				}
				return nil
			})
			bt := sink.Backtrace(never{rec, contract.TraitsFor(nil, contract.NeverLogs)}, sink.BacktraceConfig{Mark: nib.OmitKey})
			var one nib.Sink
			one, two = dumps(bt)
			for i := range 2 {
				_ = one.WriteRecord(record(nib.LevelDebug, fmt.Sprintf(`{"one":%d}`, i)))
				_ = two.WriteRecord(record(nib.LevelDebug, fmt.Sprintf(`{"two":%d}`, i)))
			}
			_ = one.(interface{ Dump() error }).Dump()
			<-done
			wantLines(t, rec, "sink", `{"one":0}`, `{"one":1}`, `{"two":0}`, `{"two":1}`)
		})
	}
}
