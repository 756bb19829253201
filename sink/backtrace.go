// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/pool"
)

// BacktraceConfig configures a [Backtracer].
type BacktraceConfig struct {
	// Level is the lowest level that is written at once; lines below it are
	// held back. The default is LevelInfo, the zero Level.
	Level nib.Level
	// Trigger is the lowest level that makes the held lines be written first.
	// It must be above Level. Defaults to LevelError, if it is the zero Level.
	Trigger nib.Level
	// Bytes is the maximum number of bytes of lines that each ring holds.
	// Defaults to 64 KiB. A ring holds at most Bytes/64 lines; the list of
	// these takes at most another 1.25·Bytes.
	Bytes int
	// Mark is the key of a field with the value true, which is added to lines
	// that were held back, since they are written later than their time.
	// Defaults to "backtrace"; nib.OmitKey omits it.
	Mark string
}

// Validate returns every error in c, joined, or nil.
func (c BacktraceConfig) Validate() error {
	c = c.withDefaults()
	var errs []error
	if c.Trigger <= c.Level {
		errs = append(errs,
			fmt.Errorf("nib/sink: Trigger %s is not above Level %s", c.Trigger, c.Level))
	}
	if c.Bytes < 0 || c.Bytes > maxRing {
		errs = append(errs, fmt.Errorf("nib/sink: Bytes is %d, want 0 to %d", c.Bytes, maxRing))
	}
	for i := range len(c.Mark) {
		if b := c.Mark[i]; b < ' ' || b > '~' || b == '"' || b == '\\' {
			errs = append(errs, fmt.Errorf("nib/sink: Mark %q is not plain ASCII", c.Mark))
			break
		}
	}
	return errors.Join(errs...)
}

func (c BacktraceConfig) withDefaults() BacktraceConfig {
	if c.Trigger == 0 {
		c.Trigger = nib.LevelError
	}
	if c.Bytes == 0 {
		c.Bytes = 64 << 10
	}
	if c.Mark == "" {
		c.Mark = "backtrace"
	}
	return c
}

// maxRing is the maximum size of a ring.
const maxRing = 1 << 30

// A Backtracer is the sink returned by [Backtrace].
type Backtracer struct {
	branches
	threshold
	sink   nib.Sink
	config BacktraceConfig
	mark   string
	rings  *pool.Pool[*ring] // empty rings

	// dumping lets one goroutine at a time write a dump, so that concurrent
	// dumps do not mix. A sink that may log would deadlock, so it is called
	// without the lock, and the lines of concurrent dumps may interleave there.
	dumping sync.Mutex

	mu   sync.Mutex // protects ring
	ring *ring      // nil until there is something to hold back

	passed, held, dumped                   atomic.Uint64
	overwritten, tooLarge, discarded, gone atomic.Uint64
}

type threshold = contract.Threshold

var (
	_ nib.Sink       = (*Backtracer)(nil)
	_ metrics.Source = (*Backtracer)(nil)
)

// Backtrace returns a sink that holds back the lines below a level, keeping the
// newest ones in a ring of bounded size, and writes them to s only before a
// line of level Trigger or above. So the debug lines that led to an error are
// written, and others use no disk space.
//
// The logger must produce such lines: its level (WithLevel) decides which lines
// are made, Level here decides which of them are held back.
//
// The ring of the Backtracer holds all lines that are written to it. Each
// [Scope] has a separate ring, for one request or job. A dump writes the lines
// in the order in which they were held back, as whole records with their
// original time, and marked with a field. Concurrent dumps are written one
// after the other if s cannot log; to a sink that may log, such as one with
// user code, their lines may interleave. A line that does not fit in the ring
// is dropped, as are the oldest when it is full; both are counted. Flush does
// not write the lines held back.
//
// It panics if s is nil or c is invalid. The sink is safe for concurrent use,
// and does not allocate per line once the ring has its size.
func Backtrace(s nib.Sink, c BacktraceConfig) *Backtracer {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	return &Backtracer{
		branches:  newBranches("Backtrace", s),
		threshold: contract.ThresholdAt(int(c.Level)),
		sink:      s,
		config:    c,
		mark:      markField(c.Mark),
		rings: pool.New(func() *ring { return &ring{limit: c.Bytes} },
			pool.WithLimit(idleRings), pool.WithGCShrink()),
	}
}

// idleRings is the number of rings kept for future scopes.
const idleRings = 256

// WriteRecord writes r to the sink or holds it back. Holding it back is not an
// error.
func (b *Backtracer) WriteRecord(r *nib.Record) error {
	if r.Level < b.config.Level {
		b.mu.Lock()
		b.hold(&b.ring, r)
		b.mu.Unlock()
		return nil
	}
	var err error
	if r.Level >= b.config.Trigger {
		err = b.Dump()
	}
	b.passed.Add(1)
	return join(err, b.sink.WriteRecord(r))
}

// hold adds r to a ring, which is protected by the caller's lock.
func (b *Backtracer) hold(g **ring, r *nib.Record) {
	if *g == nil {
		*g = b.rings.Get()
	}
	b.held.Add(1)
	dropped, fits := (*g).put(r, b.mark)
	if dropped > 0 {
		b.overwritten.Add(uint64(dropped))
	}
	if !fits {
		b.tooLarge.Add(1)
	}
}

// Dump writes the held lines. Later lines are held back as before. The error
// reports lines that were lost.
func (b *Backtracer) Dump() error {
	if b.neverLogs() {
		b.dumping.Lock()
		defer b.dumping.Unlock()
	}
	return b.dump(b.swap())
}

func (b *Backtracer) swap() *ring {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.ring
	b.ring = nil
	return g
}

// dump writes the lines of g, which is not shared and may be nil, and returns g
// to the pool. The caller must not hold a lock that a line logged by the sink
// would need.
func (b *Backtracer) dump(g *ring) (err error) {
	if g == nil {
		return nil
	}
	next, done := 0, 0
	defer func() { // also when the sink ends the goroutine
		b.dumped.Add(uint64(done))
		if done < g.count {
			b.gone.Add(uint64(g.count - done))
		}
		g.reset()
		b.rings.Put(g)
	}()
	for next < g.count {
		err = cmp.Or(b.writeFrom(g, &next, &done), err)
	}
	if done < g.count {
		err = fmt.Errorf("nib/sink: Backtrace: %d of %d lines held back are lost: %w",
			g.count-done, g.count, err)
	}
	return err
}

// writeFrom writes the lines of g from *next on, and counts them in *done. It
// returns after a line that makes the sink panic, which is lost alone, not with
// the lines after it and the trigger.
func (b *Backtracer) writeFrom(g *ring, next, done *int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the sink panicked: " + usercode.PanicText(p))
		}
	}()
	for *next < g.count {
		r := g.record(*next)
		*next++
		if e := b.sink.WriteRecord(r); e != nil {
			err = e
		} else {
			*done++
		}
	}
	return err
}

// forget drops the lines of a ring that is not shared.
func (b *Backtracer) forget(g *ring) {
	if g == nil {
		return
	}
	b.discarded.Add(uint64(g.count))
	g.reset()
	b.rings.Put(g)
}

// Metrics implements [metrics.Source].
func (b *Backtracer) Metrics() iter.Seq[metrics.Metric] { return metricsOf(b) }

func (b *Backtracer) own(l *metrics.Samples) {
	s := b.stats()
	l.Counter("nib_backtrace_passed_lines_total", "Lines written at once.", float64(s.Passed))
	l.Counter("nib_backtrace_held_lines_total", "Lines held back.", float64(s.Held))
	l.Counter("nib_backtrace_dumped_lines_total", "Lines held back and written later.",
		float64(s.Dumped))
	for _, d := range []struct {
		reason string
		lines  uint64
	}{{"discarded", s.Discarded}, {"overwritten", s.Overwritten}, {"too_large", s.TooLarge},
		{"failed", s.Failed}} {
		l.Counter("nib_backtrace_dropped_lines_total",
			"Lines held back and never written, by reason.", float64(d.lines),
			metrics.Label{Name: "reason", Value: d.reason})
	}
	l.Gauge("nib_backtrace_pending_lines", "Lines held back now.", float64(s.Pending))
}

// backtraceStats counts the lines of a Backtracer and its scopes. While no call
// is in progress, Held = Dumped + Discarded + Overwritten + TooLarge + Failed +
// Pending.
type backtraceStats struct {
	Passed      uint64 // written at once
	Held        uint64 // held back
	Dumped      uint64 // of Held: written later
	Discarded   uint64 // of Held: discarded without a trigger
	Overwritten uint64 // of Held: dropped because the ring was full
	TooLarge    uint64 // of Held: dropped because the line was larger than the ring
	Failed      uint64 // of Held: the sink returned an error
	Pending     uint64 // of Held: held back now
}

func (b *Backtracer) stats() backtraceStats {
	s := backtraceStats{
		Dumped:      b.dumped.Load(),
		Discarded:   b.discarded.Load(),
		Overwritten: b.overwritten.Load(),
		TooLarge:    b.tooLarge.Load(),
		Failed:      b.gone.Load(),
		Passed:      b.passed.Load(),
	}
	s.Held = b.held.Load() // last, so that Pending is never negative
	s.Pending = s.Held - s.Dumped - s.Discarded - s.Overwritten - s.TooLarge - s.Failed
	return s
}
