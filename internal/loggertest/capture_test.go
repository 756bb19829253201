// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
)

// testTime is the time of the clock of a captured logger.
var testTime = time.Date(2026, 1, 2, 15, 4, 5, 6_000_000, time.UTC)

// A capture keeps the lines and errors of a logger under test.
type capture struct {
	tb   testing.TB
	mu   sync.Mutex
	text [][]byte
	errs []error
}

// newCapture returns a logger with a stopped clock at LevelTrace, and where its
// lines and errors go. opts are applied last.
func newCapture(tb testing.TB, opts ...nib.Option) (*nib.Logger, *capture) {
	c := &capture{tb: tb}
	base := []nib.Option{
		nib.WithLevel(nib.LevelTrace),
		nib.WithClock(func() time.Time { return testTime }),
		nib.WithErrorHandler(c.fail),
	}
	return nib.New(c, append(base, opts...)...), c
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, bytes.Clone(p))
	return len(p), nil
}

func (c *capture) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

// take returns the lines so far, each checked, and clears them.
func (c *capture) take() []*node {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := make([]*node, len(c.text))
	for i, line := range c.text {
		v, err := parseLine(line)
		if err != nil {
			c.tb.Errorf("line %d is not right: %v\nline: %.2000q", i, err, line)
			v = &node{kind: '{'}
		}
		lines[i] = v
	}
	c.text = nil
	return lines
}

// one returns the one line that has been written since the last call. It waits
// for it: under load, package log continues without a line of StdLog that is
// being written.
func (c *capture) one() *node {
	c.tb.Helper()
	await.Until(c.tb, "a line is written", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.text) > 0
	})
	lines := c.take()
	if len(lines) != 1 {
		c.tb.Errorf("got %d lines, want 1", len(lines))
		return &node{kind: '{'}
	}
	return lines[0]
}

// takeErrors returns the errors so far and clears them.
func (c *capture) takeErrors() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := c.errs
	c.errs = nil
	return errs
}

// value logs the one field that add makes under the key "k" and returns it.
func value(tb testing.TB, add func(*nib.Event), opts ...nib.Option) *node {
	tb.Helper()
	l, c := newCapture(tb, opts...)
	e := l.Log()
	add(e)
	e.Send()
	return c.one().get("k")
}

// watch fails the test and shows all stacks if f does not come back; the limit
// is far beyond the needs of a slow machine.
func watch(tb testing.TB, f func()) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		panic("the call under test does not come back")
	}
}

func stringers(vals ...fmt.Stringer) []fmt.Stringer { return vals }

// logOnce writes one line with a new Template.
func logOnce[T any](l *nib.Logger, level nib.Level, msg string, v *T) {
	t := nib.NewTemplate[T](level, msg)
	t.Log(context.Background(), l, v)
}

// inOrder iterates over a map in the order of its keys. Tests that choose some
// of their cases use it, so that they choose the same ones in each run.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
