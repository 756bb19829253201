// SPDX-License-Identifier: Apache-2.0

// Package cart is the module that the README is shown on: it knows nothing of
// allocs but for one comment.
package cart

import (
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Cart is what a customer has chosen.
type Cart struct {
	log   *slog.Logger
	items []Item
}

// Item is one thing in it.
type Item struct {
	Name  string
	Price int
}

var bufs = sync.Pool{New: func() any { return make([]byte, 0, 256) }}

// Add puts something in.
func (c *Cart) Add(name string, price int) {
	c.items = append(c.items, Item{name, price})
	c.log.Debug("added", "name", name, "price", price)
}

// Reset takes everything out.
func (c *Cart) Reset() {
	c.items = c.items[:0]
}

// Line appends the receipt's line of an item.
//
//alloc:none
func (c *Cart) Line(dst []byte, i int, at time.Time) []byte {
	b := bufs.Get().([]byte)[:0]
	b = append(b, at.Format(time.RFC3339)...)
	b = append(b, c.items[i].Name...)
	b = strconv.AppendInt(b, int64(c.items[i].Price), 10)
	dst = append(dst, b...)
	bufs.Put(b)
	return dst
}
