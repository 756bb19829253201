// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/metrics"
)

var errClosed = fmt.Errorf("nib/sink: %w", delivery.ErrClosed)

// sweepEvery is the minimum interval at which lines of any call site make a
// suppressor report the pending counts of all others.
const sweepEvery = time.Second

// A decision is a suppressor's treatment of a line.
type decision int

const (
	pass      decision = iota
	notSite            // suppressed, because its site had too many
	notInSite          // suppressed for another reason
)

// A rule decides which lines pass a suppressor.
type rule interface {
	// bySite reports whether the decision on lines of a level depends on their
	// call site.
	bySite(level int) bool
	// decide returns the decision on a line. a is the account of its site,
	// locked, or nil if the site does not matter. It must not block.
	decide(a *account, level int, now int64) decision
}

// An account is the state of a suppressor for a call site or message.
type account struct {
	at   int64  // used by the rule; initially math.MinInt64
	last int64  // time of the last use
	n    uint64 // used by the rule
	owed uint64 // lines suppressed and not reported
	text text   // beginning of the message, if there is no call site
}

// A suppressor passes or suppresses lines, and reports the number of suppressed
// lines. Limit and Sample share it.
type suppressor struct {
	branches
	name  string // name in metrics: "limit"
	sink  nib.Sink
	rule  rule
	key   func(*nib.Record) key
	clock func() time.Time // if nil, the system clock
	base  time.Time

	sites   table
	notices notices
	// Pending counts of evicted sites, and of lines suppressed for their level.
	rest      byLevel
	owing     atomic.Int64 // lines not reported, including those being reported
	nextSweep atomic.Int64
	closed    atomic.Bool

	passed, suppressed   byLevel
	announced, forgotten atomic.Uint64
}

func (g *suppressor) start(
	combinator, name string, s nib.Sink, r rule, sites int, layout nib.Layout,
	clock func() time.Time,
) {
	g.branches = newBranches(combinator, s)
	if clock != nil {
		g.mayLog()
	}
	g.name, g.sink, g.rule, g.clock, g.base = name, s, r, clock, time.Now()
	g.sites = newTable(sites)
	g.notices.start(s, layout)
	g.nextSweep.Store(math.MinInt64)
	inner, _ := s.(delivery.Flusher)
	g.flushers, g.flushNames = []delivery.Flusher{announcer{g, inner}}, []string{g.names[0]}
}

// now returns the time for rules, from a monotonic clock unless the
// configuration has another one.
func (g *suppressor) now() int64 {
	if g.clock == nil {
		return int64(time.Since(g.base))
	}
	return g.clock().UnixNano()
}

// time returns the time for lines.
func (g *suppressor) time() time.Time {
	if g.clock == nil {
		return time.Now()
	}
	return g.clock()
}

// WriteRecord writes r, and due count lines before it, or suppresses r.
// Suppressing it is not an error.
func (g *suppressor) WriteRecord(r *nib.Record) error {
	if g.closed.Load() {
		return errClosed
	}
	now, level := g.now(), levelIndex(r.Level)
	v, d := g.decide(r, level, now)
	if v != pass {
		g.suppressed[level].Add(1)
		return nil
	}
	g.passed[level].Add(1)
	if g.owing.Load() > 0 {
		// The line is not lost if a count line fails; that is retried.
		if d.lines > 0 {
			_ = g.announce(&d)
		}
		next := g.nextSweep.Load()
		due := now >= next || next-now > int64(sweepEvery) // or the clock was set back
		if due && g.nextSweep.CompareAndSwap(next, now+int64(sweepEvery)) {
			_ = g.announceAll()
		}
	}
	return g.sink.WriteRecord(r)
}

// decide returns the decision on a line, and takes the pending count of its
// site if it passes.
func (g *suppressor) decide(r *nib.Record, level int, now int64) (v decision, d pendingCount) {
	if !g.rule.bySite(level) {
		if v = g.rule.decide(nil, level, now); v != pass {
			g.owing.Add(1)
			g.rest[level].Add(1)
		}
		return v, d
	}
	k := g.key(r)
	k.level = int8(level)
	s := g.sites.set(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	w, known := s.find(k)
	if !known {
		g.forget(w)
		*w = slot{key: k, value: account{at: math.MinInt64, last: now}}
		if k.pc == 0 {
			w.value.text.set(r.Message)
		}
	}
	s.uses++
	w.rank = s.uses
	now = steady(&w.value.last, now)
	switch v = g.rule.decide(&w.value, level, now); v {
	case pass:
		if w.value.owed > 0 {
			d = takePending(w)
		}
	case notSite:
		g.owing.Add(1)
		w.value.owed++
	case notInSite:
		g.owing.Add(1)
		g.rest[level].Add(1)
	}
	return v, d
}

// steady corrects for goroutines that arrive in another order than they have
// read the clock: each gets the latest reading. A clock that is more than a
// second behind was set back.
func steady(last *int64, now int64) int64 {
	if behind := *last - now; behind > 0 && behind < int64(time.Second) {
		return *last
	}
	*last = now
	return now
}

// takePending takes the pending count of the account in w. The set is locked.
func takePending(w *slot) pendingCount {
	d := pendingCount{key: w.key, lines: w.value.owed, text: w.value.text}
	w.value.owed = 0
	return d
}

// forget moves the pending count of a site that is being evicted to its level.
func (g *suppressor) forget(w *slot) {
	if w.key.used {
		g.rest[w.key.level].Add(w.value.owed)
		g.forgotten.Add(1)
	}
}

// announce writes the count line for d. If the sink fails, d stays pending.
func (g *suppressor) announce(d *pendingCount) (err error) {
	done := false
	defer func() {
		if !done || err != nil { // runs even if the sink ends the goroutine
			g.putBack(d)
			return
		}
		g.announced.Add(d.lines)
		g.owing.Add(-int64(d.lines))
	}()
	err = g.notices.send(d, g.time())
	done = true
	return err
}

// putBack makes d pending again.
func (g *suppressor) putBack(d *pendingCount) {
	s := g.sites.set(d.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, known := s.find(d.key); known {
		w.value.owed += d.lines
	} else {
		g.rest[d.key.level].Add(d.lines)
	}
}

// announceAll reports all pending counts, up to the first that the sink does
// not accept.
func (g *suppressor) announceAll() error {
	for i := range g.rest {
		d := pendingCount{key: key{level: int8(i)}, lines: g.rest[i].Swap(0)}
		if d.lines > 0 {
			if err := g.announce(&d); err != nil {
				return err
			}
		}
	}
	for i := range g.sites.sets {
		s := &g.sites.sets[i]
		for j := range s.slots {
			if d := pendingIn(s, j); d.lines > 0 {
				if err := g.announce(&d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pendingIn takes the pending count in one slot.
func pendingIn(s *set, slot int) (d pendingCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := &s.slots[slot]; w.value.owed > 0 {
		d = takePending(w)
	}
	return d
}

// An announcer is the delivery.Flusher of a suppressor.
type announcer struct {
	of   *suppressor
	sink delivery.Flusher // nil if the sink holds nothing back
}

// Flush reports all pending counts and flushes the sink.
func (a announcer) Flush(ctx context.Context) error {
	err := a.of.announceAll()
	if a.sink != nil {
		err = join(err, a.sink.Flush(ctx))
	}
	return err
}

// Close reports all suppressed lines. Later lines are rejected with
// [delivery.ErrClosed]. Close does not close the sink that it writes to, and
// must be called before that sink is closed. It may be called several times.
func (g *suppressor) Close() error {
	g.closed.Store(true)
	return g.announceAll()
}

// Metrics implements [metrics.Source].
func (g *suppressor) Metrics() iter.Seq[metrics.Metric] { return metricsOf(g) }

func (g *suppressor) own(l *metrics.Samples) {
	name := "nib_" + g.name
	g.passed.metrics(l, name+"_passed_lines_total", "Lines passed, by level.")
	g.suppressed.metrics(l, name+"_suppressed_lines_total", "Lines suppressed, by level.")
	l.Counter(name+"_announced_lines_total", "Suppressed lines that a summary line has reported.",
		float64(g.announced.Load()))
	l.Counter(name+"_forgotten_total", "Call sites or messages evicted to make room for others.",
		float64(g.forgotten.Load()))
}
