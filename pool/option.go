// SPDX-License-Identifier: Apache-2.0

package pool

import "fmt"

// An Option sets up a pool.
type Option func(*config)

type config struct {
	limit    int
	limited  bool
	prealloc int
	shrinks  bool
}

// WithLimit keeps at most n idle values. A Put beyond that drops its value, and
// one below it keeps it; only while other calls run may a Put be dropped that
// would just have fitted. Gets and Puts pay for the limit where the room that is
// left has to be looked for: above it, each Put looks everywhere. n must not be
// negative.
func WithLimit(n int) Option {
	return func(c *config) { c.limit, c.limited = n, true }
}

// WithPrealloc makes n values at once, so that the first n Gets need not. New
// then calls the constructor that often, and the slots are there as well. n must
// be neither negative nor above the limit.
func WithPrealloc(n int) Option {
	return func(c *config) { c.prealloc = n }
}

// WithGCShrink lets the garbage collector have idle values: soon after each
// collection, those are dropped that nobody has asked for since the last time,
// but for up to two magazines (512 values, fewer if they are large) in each shard
// that was used. Without it values are kept until Trim. A pool that nobody refers
// to any more is collected as a whole, with or without it.
func WithGCShrink() Option {
	return func(c *config) { c.shrinks = true }
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
		panic(fmt.Sprintf("nib/pool: preallocation of %d values is above the limit of %d", c.prealloc, c.limit))
	}
	return c
}
