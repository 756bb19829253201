// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/seed"
)

// A countWriter only counts.
type countWriter struct{ lines, bytes int }

func (w *countWriter) Write(p []byte) (int, error) {
	w.lines++
	w.bytes += len(p)
	return len(p), nil
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	return heapNow()
}

func heapNow() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestHugeLineIsWrittenAndForgotten(t *testing.T) {
	size, fields := seed.Times(32<<20, 32<<20, 8<<20), seed.Times(200_000, 200_000, 50_000)
	text := strings.Repeat("x", size)
	keys := map[string]any{}
	for i := range fields {
		keys[fmt.Sprint("key", i)] = nil
	}
	for name, log := range map[string]func(l *nib.Logger){
		"Str": func(l *nib.Logger) { l.Info().Str("k", text).Msg("m") }, "Msg": func(l *nib.Logger) { l.Info().Msg(text) },
		"Msgf":     func(l *nib.Logger) { l.Info().Msgf("%s", text) },
		"Any":      func(l *nib.Logger) { l.Info().Any("k", struct{ S string }{text}).Msg("m") },
		"Stringer": func(l *nib.Logger) { l.Info().Stringer("k", &textStringer{text}).Msg("m") },
		"many":     func(l *nib.Logger) { l.Info().Fields(keys).Msg("m") },
		"hook": func(l *nib.Logger) {
			l.WithOptions(nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, msg string) { e.Str("k", text) }))).Info().Msgf("m")
		},
	} {
		w := &countWriter{}
		l := nib.New(w)
		for range 51 {
			l.Info().Msg("m")
		}
		before := heapInUse()
		log(l)
		if name != "many" && w.bytes < size {
			t.Errorf("%s: got %d bytes", name, w.bytes)
		}
		for range 51 {
			l.Info().Msg("m")
		}
		runtime.GC()
		l.Info().Msg("m") // or the pool of events would have been emptied, whatever they hold
		runtime.GC()
		l.Info().Msg("m")
		if after := heapNow(); after > before+1<<20 {
			t.Errorf("%s: %d bytes are still in use", name, after-before)
		}
		runtime.KeepAlive(l)
	}
	runtime.KeepAlive(text)
	runtime.KeepAlive(keys)
}

// The pooled event must not keep the record of a huge line, also if the
// following lines need none.
func TestRecordOfAHugeLineIsForgotten(t *testing.T) {
	var buf weak.Pointer[byte]
	l := nib.NewSink(sinkFunc(func(r *nib.Record) error { buf = weak.Make(&r.Line[0]); return nil }))
	plain := nib.New(&countWriter{})
	l.Info().Str("k", strings.Repeat("x", 1<<20)).Msg("m")
	e := plain.Info() // the same event, from the pool
	runtime.GC()
	if buf.Value() != nil {
		t.Error("the line of 1 MB is still in memory")
	}
	e.Msg("m")
}

func TestHugeLineIsWhole(t *testing.T) {
	var out bytes.Buffer
	l := nib.New(&out, bare)
	text := strings.Repeat("ab\n", 1<<20)
	l.Info().Str("k", text).Send()
	line, err := parseLine(out.Bytes())
	if err != nil || line.get("k").text != text {
		t.Errorf("not the same: %v", err)
	}
}

// An orderSink checks that the lines of each goroutine come in order.
type orderSink struct {
	mu    sync.Mutex
	next  map[string]int
	wrong int
}

func (s *orderSink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var who string
	var n int
	if _, err := fmt.Sscanf(string(p), `{"g":%q,"n":%d}`, &who, &n); err != nil || n != s.next[who] {
		s.wrong++
	}
	s.next[who] = n + 1
	return len(p), nil
}

func TestTenThousandGoroutinesLoseNoLine(t *testing.T) {
	goroutines, each := 10_000, 10
	if testing.Short() {
		goroutines = 1000
	}
	s := &orderSink{next: map[string]int{}}
	l := nib.New(s, bare, nib.WithLevel(nib.LevelTrace))
	stop := make(chan struct{})
	var disturber sync.WaitGroup
	disturber.Add(1)
	go func() {
		defer disturber.Done()
		old := runtime.GOMAXPROCS(0)
		defer runtime.GOMAXPROCS(old)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				runtime.GOMAXPROCS(1 + i%8)
				runtime.GC()
			}
		}
	}()
	var all sync.WaitGroup
	for g := range goroutines {
		all.Add(1)
		go func() {
			defer all.Done()
			who := fmt.Sprint("g", g)
			for n := range each {
				l.At(nib.LevelInfo).Str("g", who).Int("n", n).Send()
			}
		}()
	}
	watch(t, all.Wait)
	close(stop)
	disturber.Wait()
	if len(s.next) != goroutines || s.wrong != 0 {
		t.Errorf("got lines of %d goroutines, %d out of order", len(s.next), s.wrong)
	}
	for who, n := range s.next {
		if n != each {
			t.Errorf("%s: got %d lines", who, n)
			break
		}
	}
	if got := l.Stats(); got.Failed+got.Reentrant+got.Aborted != 0 {
		t.Errorf("got %+v", got)
	}
}

// Goroutines use everything that may be shared at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	var level nib.LevelVar
	l := nib.New(io.Discard, nib.WithLevel(&level), nib.WithCaller(), nib.WithStack(nib.LevelError))
	await.Goroutines(8, func(g int) {
		for i := range 200 {
			level.Set(nib.Level(i%5) * 4)
			k := l.With(func(e *nib.Event) { e.Int("i", i) }).Named("n").WithGroup("g")
			k.Info().Any("m", map[string]any{"a": g}).Err(errAny).Msgf("%d", i)
			k.At(nib.Level(i)).Stack().Msg("m")
			k.WithOptions(nib.WithLayout(nib.Layout{MessageFirst: true})).Error().Msg("m")
			l.Stats()
		}
	})
}
