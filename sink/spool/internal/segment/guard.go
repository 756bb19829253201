// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"errors"
	"runtime/debug"
)

// If a page of a mapping is no longer backed by the file, because the file was
// truncated or the disk cannot be read, the system sends SIGBUS, which
// terminates a Go program. debug.SetPanicOnFault turns it into a panic of the
// goroutine that caused it, for a few nanoseconds per access. Every access to a
// mapping is guarded in this way, and so is the copying of a line, which may be
// in a mapping of user code: a claim must not stay without a record.

// EndGuard is deferred with the result of SetPanicOnFault. It recovers a panic
// that was caused by an access to the segment, and no other.
func (g *Segment) EndGuard(before bool) {
	debug.SetPanicOnFault(before)
	if p := recover(); p != nil && !g.IsFault(p) {
		panic(p)
	}
}

// IsFault reports whether p is the panic value of a faulting access to the
// segment.
func (g *Segment) IsFault(p any) bool {
	fault, ok := p.(interface{ Addr() uintptr })
	return ok && g.IsMapped() && within(fault.Addr(), g.b)
}

// Probe panics if the file of a mapping is shorter than it should be. A record
// that begins in its last page looks unfinished, because the rest of that page
// is zeros.
func (g *Segment) Probe() {
	if g.IsMapped() {
		_ = word(g.b, len(g.b)-8).Load()
	}
}

var ErrGone = errors.New("a page of the file is missing or cannot be read")

// Fault returns why g is broken.
func (g *Segment) Fault() error {
	if t := g.twin; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.err
	}
	return ErrGone
}
