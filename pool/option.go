// SPDX-License-Identifier: Apache-2.0

package pool

import "fmt"

// An Option configures a pool.
type Option func(*config)

type config struct {
	limit    int
	limited  bool
	prealloc int
	shrinks  bool
	slots    bool
}

// WithLimit limits the pool to n idle values. A Put beyond the limit drops its
// value, and one below it keeps it; only while other calls run may a Put drop a
// value that would just have fitted. Near the limit Gets and Puts are slower,
// since they search for unused room. Above it the first Puts, some for each
// shard, search all shards; further ones, until the next Get, take no longer
// than others. n must not be negative.
func WithLimit(n int) Option {
	return func(c *config) { c.limit, c.limited = n, true }
}

// WithPrealloc creates n values in advance. New then calls the constructor n
// times, and allocates the slots. n must be neither negative nor above the
// limit.
func WithPrealloc(n int) Option {
	return func(c *config) { c.prealloc = n }
}

// WithGCShrink frees unused values: soon after each garbage collection the pool
// drops the values that were not used since the previous one, except for up to
// two magazines (512 values, fewer if they are large) in each shard that was
// used. Without it values are kept until Trim. An unreachable pool is collected
// as a whole, with or without it.
func WithGCShrink() Option {
	return func(c *config) { c.shrinks = true }
}

// withSlots adds slots for the pointers to Buffers.
func withSlots() Option {
	return func(c *config) { c.slots = true }
}

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		o(&c)
	}
	switch {
	case c.limit < 0:
		panic(fmt.Sprintf("nib/pool: limit %d is negative", c.limit))
	case c.prealloc < 0:
		panic(fmt.Sprintf("nib/pool: preallocation of %d values is negative", c.prealloc))
	case c.limited && c.prealloc > c.limit:
		panic(fmt.Sprintf("nib/pool: preallocation of %d values is above the limit of %d",
			c.prealloc, c.limit))
	}
	return c
}
