// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"slices"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// Reach is how certainly a place is executed when the root runs.
type Reach uint8

// From the most certain to the least likely.
const (
	Surely  Reach = iota // on every path through every function of the chain
	Maybe                // below a branch
	Rarely               // below a branch to a panic or first-time work
	reaches              // number of reaches
)

// Found is a call of the runtime that allocates, and the path from the root to
// it.
type Found struct {
	Stack []binary.Frame // the allocation first, the root last; includes inlined functions
	Kind  heapcalls.Kind
	Rule  heapcalls.Rule
	Reach Reach
	Why   string // the reason for Rarely
}

// Dynamic is a call that is not followed: it is through an interface or a
// function value or deferred, so that the code does not show its callee, or the
// chain is too long.
type Dynamic struct {
	Stack []binary.Frame
	Reach Reach
}

// walker walks the call graph of executables from one root. It enters every
// function once for each reach, the most certain first, so each chain is the
// most certain one, and the shortest of those.
type walker struct {
	stop    func(f binary.Frame) bool // a waiver: do not continue below this line
	seen    map[*binary.Func]bool
	queues  [reaches][]step
	found   []Found
	dynamic []Dynamic
}

// step is a function to enter.
type step struct {
	program *binary.Program
	f       *binary.Func
	above   *link
	reach   Reach
	why     string
	only    func(c *binary.Call) bool // which calls of f count; nil for all
	// If only is set: whether the frame is in the lines of the root.
	own func(f binary.Frame) bool
}

// direct reports whether the call is written in the lines of a log call itself.
// Arguments are evaluated whenever the expression is, whatever precedes it in
// the function; code that was inlined into it can have branches.
func (s *step) direct(c *binary.Call) bool {
	return s.only != nil && s.own(c.Stack[0])
}

// link is a call on the way from the root, a list towards the root.
type link struct {
	frames []binary.Frame
	above  *link
	n      int
}

// depthLimit is the maximum length of a chain; longer ones are not readable.
const depthLimit = 40

func (w *walker) push(s step) { w.queues[s.reach] = append(w.queues[s.reach], s) }

// walk enters all functions. A step queues none that is more certain than it is
// itself.
func (w *walker) walk() {
	for r := range w.queues {
		for len(w.queues[r]) > 0 {
			s := w.queues[r][0]
			w.queues[r] = w.queues[r][1:]
			if s.only == nil {
				if w.seen[s.f] {
					continue
				}
				w.seen[s.f] = true
			}
			w.enter(s)
		}
	}
}

func (w *walker) enter(s step) {
	for i := range s.f.Calls {
		c := &s.f.Calls[i]
		ignored := len(c.Stack) == 0 || s.only != nil && !s.only(c)
		if !ignored && !slices.ContainsFunc(c.Stack, w.stop) {
			w.call(s, c)
		}
	}
}

func (w *walker) call(s step, c *binary.Call) {
	reach, why := s.reach, s.why
	if reach < Maybe && !s.direct(c) && !s.f.Always(c) {
		reach = Maybe
	}
	if c.Doomed {
		reach, why = Rarely, "the function ends in a panic or an exit here"
	}
	if c.Target == "" { // through an interface or a function value
		if c.Stack[0].Func == "sync.(*Pool).Get" { // it calls New when it is empty
			reach = Rarely
		}
		w.dynamic = append(w.dynamic, Dynamic{stack(c.Stack, s.above), reach})
		return
	}
	if heapcalls.Defers(c.Target) { // the callee is a function value
		w.dynamic = append(w.dynamic, Dynamic{stack(c.Stack, s.above), reach})
	}
	if kind, rule, ok := heapcalls.Of(c.Target); ok {
		w.found = append(w.found, Found{stack(c.Stack, s.above), kind, rule, reach, why})
		return
	}
	if heapcalls.Opaque(c.Target) {
		return
	}
	if reason := coldFunctions[c.Target]; reason != "" && reach < Rarely {
		reach, why = Rarely, reason
	}
	if f := s.program.At(c.Entry); f != nil && !w.seen[f] {
		w.descend(s, c, f, reach, why)
	}
}

func (w *walker) descend(s step, c *binary.Call, f *binary.Func, reach Reach, why string) {
	n := 1
	if s.above != nil {
		n = s.above.n + 1
	}
	if n > depthLimit {
		w.dynamic = append(w.dynamic, Dynamic{stack(c.Stack, s.above), reach})
		return
	}
	w.push(step{program: s.program, f: f, above: &link{c.Stack, s.above, n}, reach: reach,
		why: why})
}

// stack joins the frames of an allocation with those of the calls above it.
func stack(frames []binary.Frame, above *link) []binary.Frame {
	out := slices.Clone(frames)
	for ; above != nil; above = above.above {
		out = append(out, above.frames...)
	}
	return out
}

// coldFunctions lists functions of the standard library that a program executes
// a bounded number of times, or only after an error.
var coldFunctions = map[string]string{
	"sync.(*Pool).pinSlow":                 "the pool meets this processor for the first time",
	"sync.(*poolChain).pushHead":           "the pool's queue is full",
	"sync.(*Once).doSlow":                  "runs once",
	"sync.(*Map).dirtyLocked":              "the map is rebuilt",
	"internal/sync.(*Mutex).lockSlow":      "another goroutine holds the lock",
	"sync.(*Mutex).lockSlow":               "another goroutine holds the lock",
	"internal/sync.(*Mutex).unlockSlow":    "another goroutine waits for the lock",
	"sync.(*RWMutex).rUnlockSlow":          "another goroutine waits for the lock",
	"internal/poll.(*FD).writeLock":        "another goroutine writes",
	"internal/poll.(*FD).readLock":         "another goroutine reads",
	"internal/poll.(*FD).writeUnlock":      "another goroutine waits",
	"internal/poll.(*FD).readUnlock":       "another goroutine waits",
	"internal/poll.(*FD).decref":           "the file is closed",
	"internal/poll.(*FD).destroy":          "the file is closed",
	"internal/poll.(*pollDesc).waitWrite":  "the file is not ready",
	"internal/poll.(*pollDesc).waitRead":   "the file is not ready",
	"internal/poll.(*pollDesc).prepare":    "the file is not ready",
	"time.initLocal":                       "runs once",
	"time.initLocalFromTZI":                "runs once",
	"internal/godebug.(*Setting).register": "runs once",
	"os.epipecheck":                        "the pipe is broken",
	"os.NewSyscallError":                   "the system call failed",
}
