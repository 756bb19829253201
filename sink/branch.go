// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/metrics"
)

// branches are the sinks behind a combinator and their properties.
type branches struct {
	names      []string // names of all branches; "" for the branch of a combinator with only one
	sources    []metrics.Source
	flushers   []delivery.Flusher // flushers of the branches that have one
	flushNames []string
	combinator string // used in error texts

	// traits are those that all branches have, since a line is encoded only once,
	// and WritesLines if one has it.
	traits
}

type traits = contract.TraitSet

// newBranches panics if a sink is nil, since it would lose every line.
func newBranches(combinator string, sinks ...nib.Sink) branches {
	b := branches{combinator: combinator}
	shared, writes := contract.NeverLogs|contract.TextDurations, contract.Traits(0)
	for i, s := range sinks {
		if s == nil {
			panic("nib/sink: " + combinator + " with a nil Sink")
		}
		name := ""
		if n, ok := s.(*named); ok {
			name = n.name
		} else if len(sinks) > 1 {
			name = strconv.Itoa(i)
		}
		b.names = append(b.names, name)
		b.sources = append(b.sources, metrics.Of(s))
		if f, ok := s.(delivery.Flusher); ok {
			b.flushers = append(b.flushers, f)
			b.flushNames = append(b.flushNames, name)
		}
		shared &= contract.TraitsOf(s)
		writes |= contract.TraitsOf(s) & contract.WritesLines
	}
	b.traits = contract.TraitsFor(nil, shared|writes)
	return b
}

// mayLog removes NeverLogs from the traits, because user code is called.
func (b *branches) mayLog() {
	b.traits = contract.TraitsFor(nil, contract.TraitsOf(b)&^contract.NeverLogs)
}

// neverLogs reports whether no branch can call back into a logger.
func (b *branches) neverLogs() bool { return contract.Has(b.traits, contract.NeverLogs) }

// A combinator is a Source with metrics of its own and sources behind it.
type combinator interface {
	metrics.Source
	own(l *metrics.Samples)
	behind() *branches
}

func (b *branches) behind() *branches { return b }

// metricsOf returns the metrics of c, and of the sinks behind it, labeled with
// the names of their branches.
func metricsOf(c combinator) iter.Seq[metrics.Metric] {
	return metricsFrom(c, map[metrics.Source]bool{}).Metrics()
}

// metricsFrom returns the metrics of s unless they were seen before: a sink in
// two branches shows its metrics in the first one.
func metricsFrom(s metrics.Source, seen map[metrics.Source]bool) (l metrics.Samples) {
	if reflect.TypeOf(s).Kind() == reflect.Pointer {
		if seen[s] {
			return nil
		}
		seen[s] = true
	}
	c, ok := s.(combinator)
	if !ok {
		return slices.Collect(s.Metrics())
	}
	c.own(&l)
	for i, source := range c.behind().sources {
		for _, m := range metricsFrom(source, seen) {
			if name := c.behind().names[i]; name != "" {
				m.Labels = within(name, m.Labels)
			}
			l = append(l, m)
		}
	}
	return l
}

// within adds the name of a branch to labels: as the label branch, or as the
// first part of an existing path.
func within(name string, labels []metrics.Label) []metrics.Label {
	labels = append(make([]metrics.Label, 0, len(labels)+1), labels...)
	for i := range labels {
		if labels[i].Name == branchLabel {
			labels[i].Value = name + "/" + labels[i].Value
			return labels
		}
	}
	return append(labels, metrics.Label{Name: branchLabel, Value: name})
}

const branchLabel = "branch"

// A branchError is an error of one branch of a combinator. Branch is the name
// of a [Named] sink or, without a name, the index of the branch. In a [Route],
// the first sink is 0 and the rules begin at 1.
type branchError struct {
	branch string
	err    error
}

func (e *branchError) Error() string {
	return "nib/sink: branch " + e.branch + ": " + e.err.Error()
}

// Unwrap returns the error of the branch.
func (e *branchError) Unwrap() error { return e.err }

// inBranch wraps err with the name of a branch that has one.
func inBranch(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	return &branchError{name, err}
}

// Flush flushes all branches concurrently, so that a branch that fails, panics
// or hangs does not affect the others. It waits no longer than ctx allows, and
// joins the errors, each with the name of its branch.
func (b *branches) Flush(ctx context.Context) error {
	// Room for all: no goroutine blocks after Flush has returned.
	results := make(chan flushed, len(b.flushers))
	for i := range b.flushers {
		go b.flush(ctx, i, results)
	}
	missing := append([]string(nil), b.flushNames...)
	errs := make([]error, 0, len(b.flushers))
	take := func(f flushed) {
		errs = append(errs, inBranch(b.flushNames[f.branch], f.err))
		missing[f.branch] = ""
	}
	for len(errs) < len(b.flushers) {
		select {
		case f := <-results:
			take(f)
			continue
		default: // an available result counts, even if ctx has ended
		}
		select {
		case f := <-results:
			take(f)
		case <-ctx.Done():
			late := len(b.flushers) - len(errs)
			return errors.Join(
				append(errs, fmt.Errorf("nib/sink: %s: %d of %d branches are not flushed%s: %w",
					b.combinator, late, len(b.flushers), list(missing), context.Cause(ctx)))...)
		}
	}
	return errors.Join(errs...)
}

// list returns the non-empty names in brackets, or "".
func list(names []string) string {
	text := strings.Join(strings.Fields(strings.Join(names, " ")), ", ")
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// flushed is the result of the Flush of one branch.
type flushed struct {
	branch int // index among the flushers
	err    error
}

// flush runs on a separate goroutine, where a panic would end the process.
func (b *branches) flush(ctx context.Context, i int, results chan<- flushed) {
	err := fmt.Errorf("nib/sink: %s: Flush of a branch ended its goroutine", b.combinator)
	panicked := ""
	defer func() { // runs even if the text of the panic ends the goroutine
		if panicked != "" {
			err = fmt.Errorf("nib/sink: %s: Flush of a branch panicked: %s", b.combinator, panicked)
		}
		results <- flushed{i, err}
	}()
	defer func() {
		if p := recover(); p != nil {
			usercode.TakePanicText(&panicked, p)
		}
	}()
	err = b.flushers[i].Flush(ctx)
}
