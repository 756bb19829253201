// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"errors"
	"iter"
	"reflect"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/metrics"
)

// Tee returns a sink that writes every record to each of sinks in turn, on the
// goroutine that logs. A branch cannot keep the others from getting the record:
//
//   - The errors of branches are joined, each with the name of its branch. An
//     error means that at least one branch has not written the line.
//   - A branch that panics, or ends the goroutine, counts as failed.
//   - A branch that does not return blocks its caller, since the record is only
//     borrowed. After at most 0.2 seconds the branches after it get the line
//     from another goroutine. After about another second the branch is skipped,
//     with [delivery.ErrStalled], until the call returns; so it blocks only the
//     goroutines that were in it by then.
//
// The sink counts lines, failures, panics and skipped lines per branch; [Named]
// gives a branch a name. Without sinks, Tee returns [Discard]. It panics if a
// sink is nil. The sink does not allocate per record, unless a branch fails
// with a new error or two branches fail.
func Tee(sinks ...nib.Sink) nib.Sink {
	if len(sinks) == 0 {
		return Discard()
	}
	t := &tee{branches: newBranches("Tee", sinks...), to: make([]teeBranch, len(sinks))}
	for i, s := range sinks {
		b := &t.to[i]
		b.sink, b.name = s, t.names[i]
		if b.name == "" {
			b.name = "0"
		}
		b.stalled = &branchError{b.name, delivery.ErrStalled}
	}
	t.watch.start(t)
	return t
}

type tee struct {
	branches
	to    []teeBranch
	watch watch
}

var (
	_ nib.Sink       = (*tee)(nil)
	_ metrics.Source = (*tee)(nil)
)

// A teeBranch is one of the sinks, with the counts of its lines.
type teeBranch struct {
	sink    nib.Sink
	name    string
	stalled error

	lines, failed, panicked, skipped atomic.Uint64
	// Error of the last failure; the next one may be equal.
	last atomic.Pointer[branchError]

	late      atomic.Int32  // overdue calls that have not returned
	lateSince atomic.Uint32 // tick at which the first of them was found
}

// named returns err with the name of the branch. A sink that is closed or full
// returns the same error for every line; named must not allocate for each.
func (b *teeBranch) named(err error) error {
	if last := b.last.Load(); last != nil && plain(err) && last.err == err {
		return last
	}
	e := &branchError{b.name, err}
	b.last.Store(e)
	return e
}

// plain reports whether err can be compared with any other error: a struct may
// contain a field that is not comparable.
func plain(err error) bool {
	k := reflect.TypeOf(err).Kind()
	return k == reflect.Pointer || k <= reflect.Complex128
}

// WriteRecord writes r to every branch.
func (t *tee) WriteRecord(r *nib.Record) (err error) {
	n := t.watch.begin(r)
	defer t.watch.end(n, &err)
	return t.deliver(n, n.state.Load())
}

// deliver writes the record of n to the branches, starting at the branch of
// state, until the last one has it or another goroutine has taken over. The
// deferred function continues after a branch that does not return normally,
// both for a panic and for runtime.Goexit.
func (t *tee) deliver(n *turn, state turnState) (err error) {
	i := state.branch()
	inside := false
	defer func() {
		if !inside {
			return
		}
		b := &t.to[i]
		b.panicked.Add(1)
		defer func() { // runs even if the text of the panic ends the goroutine
			if next, ok := t.watch.next(n, state, b); ok {
				err = join(err, t.deliver(n, next))
			}
		}()
		if p := recover(); p != nil {
			err = join(err, b.named(errors.New("panicked: "+usercode.PanicText(p))))
		}
	}()
	for ; i < len(t.to); i++ {
		b := &t.to[i]
		if b.late.Load() > 0 && t.watch.hopeless(b) {
			b.skipped.Add(1)
			err = join(err, b.stalled)
		} else {
			inside = true
			e := b.sink.WriteRecord(n.record)
			inside = false
			if e == nil {
				b.lines.Add(1)
			} else {
				b.failed.Add(1)
				err = join(err, b.named(e))
			}
		}
		var ok bool
		if state, ok = t.watch.next(n, state, b); !ok {
			return err
		}
	}
	return err
}

// Metrics implements [metrics.Source].
func (t *tee) Metrics() iter.Seq[metrics.Metric] { return metricsOf(t) }

func (t *tee) own(l *metrics.Samples) {
	for i := range t.to {
		b := &t.to[i]
		branch := metrics.Label{Name: branchLabel, Value: b.name}
		l.Counter("nib_tee_lines_total", "Lines that a branch of a Tee accepted.",
			float64(b.lines.Load()), branch)
		for _, c := range []struct {
			reason string
			lines  uint64
		}{{"error", b.failed.Load()}, {"panic", b.panicked.Load()}, {"stalled", b.skipped.Load()}} {
			l.Counter("nib_tee_dropped_lines_total",
				"Lines that a branch of a Tee did not accept, by reason.", float64(c.lines), branch,
				metrics.Label{Name: "reason", Value: c.reason})
		}
	}
}

// join is like errors.Join, but does not wrap a single error.
func join(a, b error) error {
	switch {
	case b == nil:
		return a
	case a == nil:
		return b
	}
	return errors.Join(a, b)
}
