// SPDX-License-Identifier: Apache-2.0

package pools

import "sync"

// A stack is the simplest pool: a slice. It is not safe for use by several
// goroutines.
type stack[T any] struct {
	create func() T
	items  []T
}

func (s *stack[T]) Get() (v T) {
	if n := len(s.items) - 1; n >= 0 {
		v = s.items[n]
		s.items[n] = *new(T)
		s.items = s.items[:n]
		return v
	}
	return s.create()
}

func (s *stack[T]) Put(v T) { s.items = append(s.items, v) }

// A guarded is a stack with a mutex, and a limit if that is not 0.
type guarded[T any] struct {
	mu    sync.Mutex
	stack stack[T]
	limit int
}

func newGuarded[T any](create func() T) *guarded[T] {
	return &guarded[T]{stack: stack[T]{create: create}}
}

func (g *guarded[T]) Get() T {
	g.mu.Lock()
	n := len(g.stack.items)
	if n == 0 {
		g.mu.Unlock()
		return g.stack.create()
	}
	v := g.stack.Get()
	g.mu.Unlock()
	return v
}

func (g *guarded[T]) Put(v T) {
	g.mu.Lock()
	if g.limit == 0 || len(g.stack.items) < g.limit {
		g.stack.Put(v)
	}
	g.mu.Unlock()
}

// A channel is a pool whose limit is exact because it is the capacity.
type channel[T any] struct {
	create func() T
	items  chan T
}

func (c *channel[T]) Get() T {
	select {
	case v := <-c.items:
		return v
	default:
		return c.create()
	}
}

func (c *channel[T]) Put(v T) {
	select {
	case c.items <- v:
	default:
	}
}
