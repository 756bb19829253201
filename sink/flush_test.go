// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

// combinations returns each combinator that can have two branches, with a and
// b.
func combinations(a, b nib.Sink) map[string]nib.Sink {
	keep := func(*nib.Record) bool { return true }
	return map[string]nib.Sink{
		"Tee":            sink.Tee(a, b),
		"Tee with more":  sink.Tee(newQuiet(), a, sink.Discard(), b),
		"Route":          sink.Route(a, sink.AtLeast(nib.LevelError, b)),
		"Filter of Tee":  sink.Filter(sink.Tee(a, b), keep),
		"Tee of Filters": sink.Tee(sink.Filter(a, keep), sink.Filter(b, keep)),
	}
}

func TestFlushReachesAllBranches(t *testing.T) {
	var flushed atomic.Int32
	flush := func(context.Context) error { flushed.Add(1); return nil }
	for name, s := range combinations(flushingWith(flush), flushingWith(flush)) {
		flushed.Store(0)
		if err := s.(delivery.Flusher).Flush(t.Context()); err != nil || flushed.Load() != 2 {
			t.Errorf("%s: %d branches flushed, error %v, want 2, nil", name, flushed.Load(), err)
		}
	}
}

func TestFlushReachesAllBranchesWhenOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flush func(context.Context) error
		want  string
	}{
		{"fails", func(context.Context) error { return errOne }, "one"},
		{"panics", func(context.Context) error { panic("boom") }, "Flush of a branch panicked: boom"},
		{"panics with a loop", func(context.Context) error { panic(loop()) }, "Flush of a branch panicked: map[string]interface {}"},
		{"panics with an error that ends its goroutine", func(context.Context) error { panic(endingError{}) }, "Flush of a branch panicked: sink_test.endingError"},
		{"ends its goroutine", func(context.Context) error { runtime.Goexit(); return nil }, "Flush of a branch ended its goroutine"},
	} {
		var flushed atomic.Int32
		other := func(context.Context) error { flushed.Add(1); return errTwo }
		for name, s := range combinations(flushingWith(tt.flush), flushingWith(other)) {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				flushed.Store(0)
				err := s.(delivery.Flusher).Flush(t.Context())
				if flushed.Load() != 1 {
					t.Errorf("the other branch was flushed %d times, want once", flushed.Load())
				}
				if !strings.Contains(text(err), tt.want) || !errors.Is(err, errTwo) {
					t.Errorf("error %q, want %q and two", text(err), tt.want)
				}
			})
		}
	}
}

func TestFlushDoesNotWaitForABranchThatHangs(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	hang := flushingWith(func(context.Context) error { <-never; return nil })
	other := new(recordtest.Recorder)
	cause := errors.New("out of time")
	for name, s := range combinations(hang, other) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			reached := false
			other.FlushWith(func(context.Context) error {
				reached = true
				cancel(cause) // the context ends once the other branch is flushed
				return nil
			})
			err := s.(delivery.Flusher).Flush(ctx)
			if !errors.Is(err, cause) || !strings.Contains(text(err), "branches are not flushed") {
				t.Errorf("got error %q, want what is missing, and %q", text(err), cause)
			}
			if !reached {
				t.Error("the other branch was not flushed")
			}
		})
	}
}
