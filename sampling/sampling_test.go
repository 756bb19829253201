// SPDX-License-Identifier: Apache-2.0

package sampling_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/sampling"
)

// kept returns which of n events s keeps, as a string of + and -.
func kept(s nib.Sampler, level nib.Level, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = '-'
		if s.Sample(level) {
			out[i] = '+'
		}
	}
	return string(out)
}

func TestEvery(t *testing.T) {
	for n, want := range map[int]string{
		-1: "+++++++", 0: "+++++++", 1: "+++++++", 2: "+-+-+-+", 3: "+--+--+", math.MaxInt: "+------",
	} {
		if got := kept(sampling.Every(n), nib.LevelInfo, 7); got != want {
			t.Errorf("Every(%d): got %s, want %s", n, got, want)
		}
	}
}

func TestRandom(t *testing.T) {
	for _, tt := range []struct {
		p        float64
		min, max int // of 10,000 events
	}{{-1, 0, 0}, {0, 0, 0}, {math.NaN(), 0, 0}, {0.1, 700, 1300}, {0.5, 4500, 5500}, {1, 10_000, 10_000}, {7, 10_000, 10_000}} {
		s, n := sampling.Random(tt.p), 0
		for range 10_000 {
			if s.Sample(nib.LevelInfo) {
				n++
			}
		}
		if n < tt.min || n > tt.max {
			t.Errorf("Random(%v): got %d of 10,000 events, want %d to %d", tt.p, n, tt.min, tt.max)
		}
	}
}

func TestBurstKeepsExactlyNOfManyGoroutines(t *testing.T) {
	const n = 1000
	s := sampling.Burst(n, time.Hour, nil)
	var total atomic.Int64
	await.Goroutines(8, func(int) {
		for range n {
			if s.Sample(nib.LevelInfo) {
				total.Add(1)
			}
		}
	})
	if got := total.Load(); got != n {
		t.Errorf("got %d events, want %d", got, n)
	}
}

func TestBurstPanicsOnAPeriodThatIsNotPositive(t *testing.T) {
	for _, period := range []time.Duration{-1, 0, 1} {
		func() {
			defer func() {
				if p := recover(); (p != nil) != (period <= 0) {
					t.Errorf("%v: got panic %v", period, p)
				}
			}()
			sampling.Burst(1, period, nil)
		}()
	}
}

func TestByLevel(t *testing.T) {
	none := sampling.Random(0)
	samplers := map[nib.Level]nib.Sampler{nib.LevelTrace: none, nib.LevelInfo: none, nib.LevelInfo + 1: sampling.Every(1), nib.LevelFatal: none, nib.LevelWarn: nil}
	s := sampling.ByLevel(samplers)
	clear(samplers)
	for level, want := range map[nib.Level]bool{
		math.MinInt: false, nib.LevelTrace - 1: false, nib.LevelTrace: false, nib.LevelDebug - 1: false, nib.LevelDebug: true, nib.LevelInfo - 1: true,
		nib.LevelInfo: false, nib.LevelInfo + 1: true, nib.LevelInfo + 2: false, nib.LevelWarn: true, nib.LevelFatal + 9: false, math.MaxInt: false,
	} {
		if got := s.Sample(level); got != want {
			t.Errorf("%v: got %v, want %v", level, got, want)
		}
	}
}

func TestAllocs(t *testing.T) {
	s := sampling.ByLevel(map[nib.Level]nib.Sampler{nib.LevelInfo: sampling.Burst(2, time.Millisecond, sampling.Every(3)), nib.LevelWarn: sampling.Random(0.5)})
	log := nib.New(io.Discard, nib.WithSampler(s))
	alloctest.Zero(t, func() {
		log.Info().Msg("m")
		log.Warn().Msg("m")
	})
}

func Example() {
	log := nib.New(os.Stdout,
		nib.WithSampler(sampling.ByLevel(map[nib.Level]nib.Sampler{
			nib.LevelInfo: sampling.Every(3),
		})),
		nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	for i := range 5 {
		log.Info().Int("n", i).Msg("cache hit")
	}
	log.Warn().Msg("cache full")
	// Output:
	// {"level":"info","n":0,"message":"cache hit"}
	// {"level":"info","n":3,"message":"cache hit"}
	// {"level":"warn","message":"cache full"}
}

func ExampleBurst() {
	s := sampling.Burst(2, time.Hour, sampling.Every(3)) // 2 an hour, and a third of the rest
	for range 6 {
		fmt.Print(s.Sample(nib.LevelInfo), " ")
	}
	// Output: true true true false false true
}
