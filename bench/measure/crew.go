// SPDX-License-Identifier: Apache-2.0

package measure

import "sync"

// A Crew is a fixed number of goroutines that share the operations of a round.
// They are kept across rounds, so that neither their start nor the growth of
// their stacks is measured. One goroutine may call Do.
type Crew struct {
	shares []chan int
	done   sync.WaitGroup
}

// NewCrew starts size goroutines that run do. Close ends them.
func NewCrew(size int, do func(n int)) *Crew {
	c := &Crew{shares: make([]chan int, size)}
	for i := range c.shares {
		share := make(chan int)
		c.shares[i] = share
		go func() {
			for n := range share {
				do(n)
				c.done.Done()
			}
		}()
	}
	return c
}

// Do performs n operations, shared out evenly, and returns when all are done.
func (c *Crew) Do(n int) {
	c.done.Add(len(c.shares))
	for i, share := range c.shares {
		share <- (n + i) / len(c.shares)
	}
	c.done.Wait()
}

// Close ends the goroutines.
func (c *Crew) Close() {
	for _, share := range c.shares {
		close(share)
	}
}
