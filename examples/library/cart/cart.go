// SPDX-License-Identifier: Apache-2.0

// Package cart is a library that logs. It shows the two ways to get at a
// logger, and that a library needs neither options nor a global for it:
//
//   - a long-lived type takes a *nib.Logger when it is made. nil is a logger
//     that discards everything, so a caller without a logger passes nil;
//   - a function that works for one request asks the context, which carries the
//     logger of that request, with its id.
package cart

import (
	"context"

	"github.com/nib-log/nib"
)

// A Cart counts items. It is used by one goroutine at a time.
type Cart struct {
	log   *nib.Logger
	items map[string]int
}

// New returns an empty Cart that logs its changes to log, which may be nil.
func New(log *nib.Logger) *Cart {
	return &Cart{log: log.Named("cart"), items: make(map[string]int)}
}

// Add adds n of an item.
func (c *Cart) Add(item string, n int) {
	c.items[item] += n
	c.log.Debug().Str("item", item).Int("n", n).Int("total", c.items[item]).Msg("added")
}

// Checkout empties the cart. Its line belongs to the request of ctx.
func (c *Cart) Checkout(ctx context.Context) (n int) {
	for _, k := range c.items {
		n += k
	}
	clear(c.items)
	nib.FromContext(ctx).Info().Int("items", n).Msg("checkout")
	return n
}
