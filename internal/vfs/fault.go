// SPDX-License-Identifier: Apache-2.0

package vfs

import (
	"path/filepath"
	"slices"
	"sync"
)

// An Op is a kind of operation of a Mem.
type Op string

// The operations. Open with O_CREATE is OpCreate, also of a file that exists.
const (
	OpOpen        Op = "open"
	OpCreate      Op = "create"
	OpLstat       Op = "lstat"
	OpRename      Op = "rename"
	OpLink        Op = "link"
	OpRemove      Op = "remove"
	OpMkdir       Op = "mkdir"
	OpReadDir     Op = "readdir"
	OpSyncDir     Op = "syncdir"
	OpWrite       Op = "write"
	OpRead        Op = "read"
	OpSync        Op = "sync"
	OpTruncate    Op = "truncate"
	OpPreallocate Op = "preallocate"
	OpStat        Op = "stat"
	OpFree        Op = "free"
	OpLock        Op = "lock" // of files and directories
	OpClose       Op = "close"
)

// A Fault is what a Mem does wrong, and when.
type Fault struct {
	Op   Op
	Path string // a pattern of filepath.Match for the last element of the name; "" fits all

	Skip  int // how many fitting calls go well first
	Times int // how many go wrong then; 0: all

	// Err is what the call returns; nil lets it go well, after Hold. A file whose
	// Sync fails counts as synced, but is not.
	Err error

	// Short, if it is above 0, lets a Write through up to that many bytes, and
	// returns no error for them.
	Short int

	// Hold keeps the call from going on until it is closed. Reached is called at
	// each fitting call, before that.
	Hold    <-chan struct{}
	Reached func()
}

// fault is a Fault and how often it was met.
type fault struct {
	Fault
	mu  sync.Mutex
	met int
}

// Fail adds a fault until heal is called. The first of those that fit a call
// counts.
func (m *Mem) Fail(f Fault) (heal func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	added := &fault{Fault: f}
	m.faults = append(slices.Clone(m.faults), added) // enter may be reading the old one
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.faults = slices.DeleteFunc(slices.Clone(m.faults), func(f *fault) bool { return f == added })
	}
}

// enter is called before each operation, without the lock of m. It returns the
// error of a fault, and how much of a Write is to be let through, or -1.
func (m *Mem) enter(op Op, name string) (short int, err error) {
	m.mu.Lock()
	faults := m.faults
	m.mu.Unlock()
	for _, f := range faults {
		if !f.fits(op, name) {
			continue
		}
		if f.Reached != nil {
			f.Reached()
		}
		if f.Hold != nil {
			<-f.Hold
		}
		if f.Short > 0 {
			return f.Short, nil
		}
		return -1, f.Err
	}
	return -1, nil
}

// fits says whether f is about this call, and counts it.
func (f *fault) fits(op Op, name string) bool {
	if f.Op != op {
		return false
	}
	if f.Path != "" {
		if ok, err := filepath.Match(f.Path, filepath.Base(name)); err != nil || !ok {
			return false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.met++
	return f.met > f.Skip && (f.Times == 0 || f.met <= f.Skip+f.Times)
}
