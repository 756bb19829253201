// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"slices"
	"sync"
)

// A Chain is the segments that exist, oldest first; the last one is active. Its
// lock protects the links, and the progress of all deliveries that read them.
type Chain struct {
	sync.Mutex
	Links       []*Link
	Closed      bool          // no more records are written
	Unlinked    int           // segments that left the chain and are being deleted
	Quarantined int           // files that are going to be quarantined
	changed     chan struct{} // closed when a waiting call should look again; nil if there is none
}

// from returns the links from l on, or nil if l is gone. The lock is held.
func (c *Chain) from(l *Link) []*Link {
	if i := slices.Index(c.Links, l); i >= 0 {
		return c.Links[i:]
	}
	return nil
}

// Unlink removes a link, whose segment is going to be deleted. The lock is held.
func (c *Chain) Unlink(l *Link) {
	i := slices.Index(c.Links, l)
	c.Links = slices.Delete(c.Links, i, i+1)
	c.Unlinked++
}

// nextNumber returns the number of the next record that is written. The lock is
// held.
func (c *Chain) nextNumber() uint64 {
	last := c.Links[len(c.Links)-1]
	if last.Live == nil {
		return last.End
	}
	_, next, _ := last.Live.Claimed()
	return next
}

// Change returns a channel that the next Broadcast closes. The lock is held.
func (c *Chain) Change() <-chan struct{} {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// Broadcast wakes everything that waits for a change. The lock is held.
func (c *Chain) Broadcast() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// IsAwaited reports whether any call waits for a change.
func (c *Chain) IsAwaited() bool {
	c.Lock()
	defer c.Unlock()
	return c.changed != nil
}

// IsClosed reports whether no more records are written.
func (c *Chain) IsClosed() bool {
	c.Lock()
	defer c.Unlock()
	return c.Closed
}
