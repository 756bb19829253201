// SPDX-License-Identifier: Apache-2.0

// Package enumerate makes every call on a file system fail. It runs a scripted
// life once to record the calls, and then once for every call, every error that
// this call can return, and every duration of the error. Only tests use it.
//
//	enumerate.Life{New: newFS, Run: func(t *testing.T, w *enumerate.World) {
//		… // open, write, rotate, deliver on w.FS; errors are to be expected
//		w.Heal()
//		… // the backlog arrives; nothing acknowledged is lost
//	}}.Enumerate(t)
//
// Each case is a subtest, so that a single one can be run by its name:
//
//	go test -run 'TestName/rename/app.log/^2$/EIO/once$'
package enumerate

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// A Life is a scenario that runs once for each case.
type Life struct {
	// New returns a file system for one life: in memory, or the operating
	// system's.
	New func(t testing.TB) vfs.FS

	// Run runs the life and checks the outcome. It makes the same calls each
	// time if none fails; goroutines may change their order.
	Run func(t *testing.T, w *World)

	// Class returns the class under which the last element of a name is counted,
	// for names that differ from life to life. Defaults to the name itself.
	Class func(base string) string
}

// A World is the file system of a life, and its faults.
type World struct {
	FS    vfs.FS // file system whose calls fail
	Sound vfs.FS // FS without faults, for preparation and checks

	class func(string) string
	c     *Case // if nil, the life is recorded

	mu      sync.Mutex
	calls   []Call
	seen    map[Call]int // counted by Op and Base
	on      bool
	healed  bool
	struck  int
	callers map[string]bool // callers of calls that have failed
}

// A Call is one call of a life: the nth of this operation on this name.
type Call struct {
	Op   vfstest.Op
	Base string // last element of the name
	Nth  int    // counted from 1
}

// A Span is the duration of a fault.
type Span int

// The spans. Those with All affect all calls that can return the error, not
// only one operation on one name.
const (
	Once       Span = iota
	Hundred         // the next 100 calls of this operation on this name
	Lasting         // the fault lasts until Heal
	AllHundred      // the next 100 calls that can return the error
	AllLasting      // all calls that can return the error, until Heal
)

var spans = []string{"once", "100", "lasting", "all-100", "all-lasting"}

func (s Span) String() string { return spans[s] }

// A Case is one fault.
type Case struct {
	Call
	Outcome
	Span
}

// String returns the name of the subtest.
func (c Case) String() string {
	return fmt.Sprintf("%s/%s/%d/%s/%s", c.Op, c.Base, c.Nth, c.Outcome.Name, c.Span)
}

// Heal ends the fault, if it has begun at all.
func (w *World) Heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.healed = true
}

// Struck returns the number of calls that have failed.
func (w *World) Struck() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck
}

// Callers returns the calls that have failed with the functions that made them,
// as "open spool.(*dir).unlink": the effect of a failure depends on the purpose
// of the call.
func (w *World) Callers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.callers))
}

// strike counts a call that fails. mu is held.
func (w *World) strike(op vfstest.Op) {
	w.struck++
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if base := path.Base(frame.Function); !strings.HasPrefix(base, "vfs") {
			w.callers[string(op)+" "+base] = true
			return
		}
		if !more {
			return
		}
	}
}

// Case returns the fault of this life; ok is false if there is none.
func (w *World) Case() (c Case, ok bool) {
	if w.c == nil {
		return Case{}, false
	}
	return *w.c, true
}

// begins reports whether this call is the first one to fail, and counts it.
func (w *World) begins(op vfstest.Op, base string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.healed {
		return false
	}
	call := Call{Op: op, Base: w.class(base)}
	w.seen[call]++
	call.Nth = w.seen[call]
	if w.c == nil {
		w.calls = append(w.calls, call)
		return false
	}
	if call != w.c.Call {
		return false
	}
	w.on = true
	w.strike(op)
	return true
}

// goesOn reports whether this later call fails as well.
func (w *World) goesOn(op vfstest.Op, base string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.on || w.healed {
		return false
	}
	switch span := w.c.Span; {
	case span == Once, (span == Hundred || span == AllHundred) && w.struck >= 100:
		return false
	case span == AllHundred, span == AllLasting:
		if !canReturn(op, w.c.Err) {
			return false
		}
	case op != w.c.Op || w.class(base) != w.c.Base:
		return false
	}
	w.strike(op)
	return true
}

// world returns a new World with the fault c, or without a fault if c is nil.
func (l Life) world(t testing.TB, c *Case) *World {
	w := &World{Sound: l.New(t), class: l.Class, c: c, seen: map[Call]int{},
		callers: map[string]bool{}}
	if w.class == nil {
		w.class = func(base string) string { return base }
	}
	faulty := vfstest.NewFaulty(w.Sound)
	w.FS = faulty
	if c == nil {
		faulty.Fail(vfstest.Fault{Fits: w.begins})
		return w
	}
	faulty.Fail(vfstest.Fault{Fits: w.begins, Err: c.Err, Half: c.Half, Done: c.Done})
	faulty.Fail(vfstest.Fault{Fits: w.goesOn, Err: c.Err, Done: c.Done})
	return w
}

// Enumerate runs the life without a fault, and then once for each case, or for
// as many as this run of the tests has time for: all with the name of a case.
// Package seed selects them.
func (l Life) Enumerate(t *testing.T) {
	t.Helper()
	recorded := l.world(t, nil)
	l.Run(t, recorded) // not a subtest, which selecting a case by name would skip
	if t.Failed() {
		return
	}
	calls := recorded.calls
	cases := Cases(calls)
	chosen := choose(t, cases)
	struck := 0
	for _, c := range chosen {
		t.Run(c.String(), func(t *testing.T) {
			w := l.world(t, &c)
			l.Run(t, w)
			struck += min(w.Struck(), 1)
		})
	}
	t.Logf("%d calls, %d cases, %d of them run, %d with a fault", len(calls), len(cases),
		len(chosen), struck)
	// On a busy machine some miss theirs: three of 25 are no sign of a fault.
	if !single() && len(chosen) >= 25 && struck*3 < len(chosen)*2 {
		t.Errorf("only %d of %d cases met their call: the life does not repeat itself", struck,
			len(chosen))
	}
}

// Cases returns all cases of some calls, in their order.
func Cases(calls []Call) (cases []Case) {
	for _, call := range calls {
		for _, o := range outcomes[call.Op] {
			last := AllLasting
			if o.Half || o.Done || o.Err == vfs.ErrLocked {
				last = Lasting
			}
			for span := Once; span <= last; span++ {
				cases = append(cases, Case{call, o, span})
			}
		}
	}
	return cases
}

// single reports whether a pattern selects cases by name.
func single() bool {
	f := flag.Lookup("test.run")
	return f != nil && strings.Contains(f.Value.String(), "/")
}

// choose returns the cases that are run.
func choose(t testing.TB, cases []Case) (chosen []Case) {
	n := seed.Times(len(cases), 60, 40)
	switch {
	case single():
		return cases
	case os.Getenv("NIB_E2E") == "short":
		n = 1000
	}
	chosen = slices.Clone(cases)
	random := rand.New(rand.NewPCG(seed.Of(t), 0))
	random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	return chosen[:min(n, len(chosen))]
}
