// SPDX-License-Identifier: Apache-2.0

package vfstest

import (
	"path/filepath"
	"slices"
	"sync"
)

// An Op is a kind of operation that a fault may affect.
type Op string

// The operations. Open with O_CREATE is OpCreate, also of a file that exists.
const (
	OpOpen        Op = "open"
	OpCreate      Op = "create"
	OpLstat       Op = "lstat"
	OpRename      Op = "rename"
	OpNoReplace   Op = "rename-noreplace"
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
	OpRights      Op = "rights"
	OpStat        Op = "stat"
	OpFree        Op = "free"
	OpLock        Op = "lock"
	OpClose       Op = "close"
)

// Ops lists all operations.
var Ops = []Op{
	OpOpen, OpCreate, OpLstat, OpRename, OpNoReplace, OpLink, OpRemove, OpMkdir, OpReadDir,
	OpSyncDir,
	OpWrite, OpRead, OpSync, OpTruncate, OpPreallocate, OpRights, OpStat, OpFree, OpLock, OpClose,
}

// A Fault makes calls of a [Faulty] file system fail, stop halfway or hang.
type Fault struct {
	Op   Op     // "" matches all
	Path string // a pattern of filepath.Match for the last element of the name; "" matches all

	// Fits decides instead of Op, Path, Skip and Times whether a call fails. It
	// is called for every call, by one goroutine at a time.
	Fits func(op Op, base string) bool

	Skip  int // number of matching calls that succeed first
	Times int // number of calls that fail then; 0 means all

	// Err is returned by the call; nil lets it succeed, after Hold. A file whose
	// Sync fails counts as synced, but is not. A Close that fails closes the file.
	Err error

	// Done lets the call do its work before it returns Err, as in a network file
	// system that has lost the server's response.
	Done bool

	// Half lets a Write or ReadAt do half of its work. As in write(2), the
	// short Write returns no error.
	Half bool

	// Short, if it is above 0, lets a Write write up to that many bytes without an
	// error.
	Short int

	// Hold blocks the call until it is closed. Reached is called before that,
	// at each matching call.
	Hold    <-chan struct{}
	Reached func()
}

// A fault is a Fault and the number of matching calls.
type fault struct {
	Fault
	mu  sync.Mutex
	met int
}

// faults holds the current faults.
type faults struct {
	mu   sync.Mutex
	list []*fault
}

// Fail adds a fault until heal is called. The first fault that matches a call
// counts.
func (l *faults) Fail(f Fault) (heal func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	added := &fault{Fault: f}
	l.list = append(slices.Clone(l.list), added) // enter may be reading the old slice
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = slices.DeleteFunc(slices.Clone(l.list), func(f *fault) bool { return f == added })
	}
}

// A hit describes how a call fails. With the zero value it succeeds.
type hit struct {
	err        error
	done, half bool
	short      int
}

// part returns the number of bytes, of n, that are transferred.
func (h hit) part(n int) int {
	switch {
	case h.short > 0:
		return min(h.short, n)
	case h.half:
		return n / 2
	case h.err != nil && !h.done:
		return 0
	}
	return n
}

// enter is called before each operation.
func (l *faults) enter(op Op, name string) hit {
	l.mu.Lock()
	list := l.list
	l.mu.Unlock()
	for _, f := range list {
		if !f.fits(op, name) {
			continue
		}
		if f.Reached != nil {
			f.Reached()
		}
		if f.Hold != nil {
			<-f.Hold
		}
		return hit{f.Err, f.Done, f.Half, f.Short}
	}
	return hit{}
}

// fits reports whether f matches this call, and counts it.
func (f *fault) fits(op Op, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Fits != nil {
		return f.Fits(op, filepath.Base(name))
	}
	if f.Op != "" && f.Op != op {
		return false
	}
	if f.Path != "" {
		if ok, err := filepath.Match(f.Path, filepath.Base(name)); err != nil || !ok {
			return false
		}
	}
	f.met++
	return f.met > f.Skip && (f.Times == 0 || f.met <= f.Skip+f.Times)
}
