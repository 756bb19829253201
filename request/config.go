// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink"
)

// Config configures a [Policy]. The zero Config writes every event and holds
// nothing back.
type Config struct {
	// Slow is the least duration of a request that counts as slow. 0 means that
	// none does.
	Slow time.Duration

	// Sample is n for the events of one in n of the requests that neither
	// failed nor were slow nor were marked with Keep. With a Sample above 1
	// each event has the field sample_weight, the number of requests that it
	// represents: n, or 1. 0 and 1 write every event.
	Sample int

	// Decide, if it is not nil, decides about each event in place of Slow, Keep
	// and Sample, for rules by outcome and route: with keep the event is written,
	// and the lines that are held back too; otherwise the event of one in oneIn
	// requests is, and none if oneIn is 0. Each event has sample_weight, which is
	// exact for each value of oneIn. Use few values; above 256 the choice is
	// random. Any number of goroutines call Decide. If it panics, the event is
	// written.
	Decide func(o Outcome) (keep bool, oneIn int)

	// MaxBytes is the maximum number of bytes of fields that Add collects for a
	// request. An addition beyond it is dropped and counted. Defaults to 8 KiB.
	MaxBytes int

	// Backtrace, if it is not nil, gives the lines of each request another
	// scope: lines below its Level are written only if the request fails, is
	// slow, is marked with Keep, or logs a line of its Trigger. The loggers of
	// requests write to it in place of their sink, and write all lines of its
	// Level and above, whatever the level of the logger: set both alike.
	Backtrace *sink.Backtracer

	// BacktraceLevel is the lowest level of the lines that Backtrace holds
	// back, for all names, whatever the level of the logger. It must not be
	// above the Level of Backtrace: the lines between the two would be missing.
	// Defaults to LevelDebug, if it is the zero Level.
	BacktraceLevel nib.Level

	// OnFailure runs when a request has failed or was slow, before its event is
	// written: to take a snapshot of a runtime/trace.FlightRecorder, for
	// example. ctx belongs to the request: Add adds to its event. The request
	// waits for it, but it does not run while it runs for another one. It has a
	// goroutine of its own; a panic or runtime.Goexit in it is ignored.
	OnFailure func(ctx context.Context)
}

const (
	defaultMaxBytes = 8 << 10
	maxMaxBytes     = 16 << 20
)

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var errs []error
	if c.Slow < 0 {
		errs = append(errs, fmt.Errorf("nib/request: Slow is %v, want 0 or more", c.Slow))
	}
	if c.Sample < 0 {
		errs = append(errs, fmt.Errorf("nib/request: Sample is %d, want 0 or more", c.Sample))
	}
	if c.MaxBytes < 0 || c.MaxBytes > maxMaxBytes {
		errs = append(errs,
			fmt.Errorf("nib/request: MaxBytes is %d, want 0 to %d", c.MaxBytes, maxMaxBytes))
	}
	if b := c.Backtrace; b != nil {
		own, level := nib.Level(contract.ThresholdOf(b)), c.backtraceLevel()
		if level > own {
			errs = append(errs, fmt.Errorf("nib/request: BacktraceLevel is %s, want %s, "+
				"the Level of Backtrace, or less", level, own))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) maxBytes() int { return cmp.Or(c.MaxBytes, defaultMaxBytes) }

func (c *Config) backtraceLevel() nib.Level { return cmp.Or(c.BacktraceLevel, nib.LevelDebug) }

// A Policy decides which requests have an event, and counts them. Several front
// ends can share one: HTTP and gRPC servers, jobs. It is safe for concurrent
// use. The zero Policy, and a nil *Policy, are the Policy of the zero Config.
type Policy struct {
	config Config
	seed   uint64

	candidates                           counters // requests that were sampled, by the rate
	written, sampledOut, suppressed      atomic.Uint64
	failed, slow, marked, late, tooLarge atomic.Uint64
	inFailure                            atomic.Bool // OnFailure runs
}

var _ metrics.Source = (*Policy)(nil)

// New returns a Policy. It panics if c is invalid.
func New(c Config) *Policy {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	return &Policy{config: c, seed: rand.Uint64()}
}

// everything is the nil Policy.
var everything = new(Policy)

// sample decides about the event of an ordinary request: of each n in a row it
// chooses one, at a random position. The weights of these add up to the number
// of requests, except for the last n at most, and a regular pattern of requests
// does not bias the choice.
func (p *Policy) sample(n uint64) bool {
	count := p.candidates.of(n)
	if count == nil {
		return rand.Uint64N(n) == 0
	}
	i := count.Add(1) - 1
	return i%n == mix(p.seed+i/n)%n
}

// counters has a counter for each rate of sampling.
type counters struct {
	byRate sync.Map // of uint64 to *atomic.Uint64
	rates  atomic.Int64
}

// maxRates bounds the memory for a function that computes rates.
const maxRates = 256

// of returns the counter of a rate, or nil if there are too many.
func (c *counters) of(rate uint64) *atomic.Uint64 {
	if v, ok := c.byRate.Load(rate); ok {
		return v.(*atomic.Uint64)
	}
	if c.rates.Add(1) > maxRates {
		return nil
	}
	v, _ := c.byRate.LoadOrStore(rate, new(atomic.Uint64))
	return v.(*atomic.Uint64)
}

// decide calls Config.Decide.
func (p *Policy) decide(o Outcome) (keep bool, oneIn int) {
	keep = true
	defer func() { _ = recover() }()
	return p.config.Decide(o)
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// onFailure calls Config.OnFailure, which is not nil, unless it is running.
func (p *Policy) onFailure(ctx context.Context) {
	if !p.inFailure.CompareAndSwap(false, true) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			p.inFailure.Store(false)
			_ = recover() // a request does not fail because its log does
		}()
		p.config.OnFailure(ctx)
	}()
	<-done
}

// Stats counts requests, and the fields added to their events. Ended is the sum
// of Written, SampledOut and Suppressed.
type Stats struct {
	Ended      uint64 // requests that have ended
	Failed     uint64 // of Ended: those that failed
	Slow       uint64 // of Ended: those that were slow
	Marked     uint64 // of Ended: those that were marked with Keep
	Written    uint64 // of Ended: those with an event
	SampledOut uint64 // of Ended: those without an event because of Sample
	// Of Ended: those without an event because it was skipped or its level was
	// off.
	Suppressed uint64
	Late       uint64 // calls of Add and Keep without effect because their request had ended
	TooLarge   uint64 // additions that were dropped because of MaxBytes
}

// Stats returns the current counts. It may be called at any time.
func (p *Policy) Stats() Stats {
	if p == nil {
		p = everything
	}
	s := Stats{
		Failed: p.failed.Load(), Slow: p.slow.Load(), Marked: p.marked.Load(),
		Written: p.written.Load(), SampledOut: p.sampledOut.Load(), Suppressed: p.suppressed.Load(),
		Late: p.late.Load(), TooLarge: p.tooLarge.Load(),
	}
	s.Ended = s.Written + s.SampledOut + s.Suppressed
	return s
}

// Metrics implements [metrics.Source].
func (p *Policy) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	s := p.Stats()
	label := func(name, value string) metrics.Label {
		return metrics.Label{Name: name, Value: value}
	}
	for _, c := range []struct {
		outcome string
		n       uint64
	}{{"written", s.Written}, {"sampled_out", s.SampledOut}, {"suppressed", s.Suppressed}} {
		l.Counter("nib_request_events_total",
			"Requests that have ended, by what became of their event.", float64(c.n),
			label("outcome", c.outcome))
	}
	for _, c := range []struct {
		reason string
		n      uint64
	}{{"failed", s.Failed}, {"slow", s.Slow}, {"marked", s.Marked}} {
		l.Counter("nib_request_kept_total",
			"Requests that Sample does not apply to, by reason; one may have several.",
			float64(c.n), label("reason", c.reason))
	}
	for _, c := range []struct {
		reason string
		n      uint64
	}{{"late", s.Late}, {"too_large", s.TooLarge}} {
		l.Counter("nib_request_dropped_additions_total",
			"Calls of Add whose fields are in no event, and of Keep after the end, by reason.",
			float64(c.n), label("reason", c.reason))
	}
	return l.Metrics()
}
