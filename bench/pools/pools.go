// SPDX-License-Identifier: Apache-2.0

// Package pools compares nib's pools and its list with other ways to keep
// values for reuse. Scenarios is the table of all contests; each file holds the
// contestants of one kind of contest. cmd/nibbench runs them.
//
// Every contestant has its own loop over concrete types: a common loop over an
// interface or a type parameter would add the same time to each and so hide a
// part of the difference.
package pools

import (
	"runtime"
	"sync/atomic"

	"github.com/nib-log/nib/bench/measure"
)

// Names of the contestants. The part after a hyphen is the way in which it is
// used.
const (
	Nib          = "nib"
	NibUnlimited = "nib-unlimited"
	Zeropool     = "zeropool"
	SyncValue    = "sync.Pool-value"       // boxed at each Put
	SyncNew      = "sync.Pool-new-pointer" // a pointer to a new variable at each Put
	SyncPointer  = "sync.Pool-pointer"     // the pointer is kept along with the value
	Mutex        = "mutex+slice"
	Channel      = "channel"
	StdList      = "container/list"
	Mcache       = "mcache"
	ByteBuffer   = "bytebufferpool"
)

// Modules are the paths of the contestants that are modules.
var Modules = []struct{ Name, Path string }{
	{Zeropool, "github.com/colega/zeropool"},
	{Mcache, "github.com/bytedance/gopkg"},
	{ByteBuffer, "github.com/valyala/bytebufferpool"},
}

// A Scenario is one contest.
type Scenario struct {
	Name  string // name in results and for -run
	Title string // name in tables
	// Context is the part of the title that only the table has.
	Context string
	Versus  string // the contestant that nib's ratio refers to
	// Ops, if not 0, is the number of operations of a round; otherwise they take
	// about the same time for all.
	Ops int
	// Goroutines that share the operations, 0 is 1.
	Goroutines int
	// Turns makes each goroutine yield after every operation.
	Turns bool
	// Stretch multiplies the length of rounds and divides their number.
	Stretch     int
	Contestants []Contestant
}

// A Contestant is one way to perform the operation of the scenario.
type Contestant struct {
	Name string
	// New prepares the contestant. Its pool counts the values that it has to make
	// in made.
	New func(made *Made) Run
}

// A Run is a contestant that is ready.
type Run struct {
	// Do performs n operations. Several goroutines may call it at once if the
	// scenario has several.
	Do func(n int)
	// Prepare, if not nil, is called before each Do and not timed.
	Prepare func(n int)
	// Lost, if not nil, takes out the values that the last Do put, and returns how
	// many of these n values the pool no longer has.
	Lost func(n int) int
	// Check, if not nil, is called after the last Do and returns an error if the
	// pool did not work correctly.
	Check func() error
	// Close, if not nil, ends the run.
	Close func()
}

// Made counts the values that a pool had to make.
type Made struct{ n atomic.Int64 }

// Add adds n to the count.
func (m *Made) Add(n int) { m.n.Add(int64(n)) }

// Count returns the count.
func (m *Made) Count() int { return int(m.n.Load()) }

// bytes makes a buffer.
func (m *Made) bytes() []byte {
	m.Add(1)
	return make([]byte, bufferSize)
}

// record makes a value of the struct that the pools keep.
func (m *Made) record() (r record) {
	m.Add(1)
	return r
}

// page makes a large value that pools keep a pointer to.
func (m *Made) page() *page {
	m.Add(1)
	return new(page)
}

// Scenarios lists all contests in the order in which they run.
func Scenarios() []Scenario {
	var all []Scenario
	all = append(all, getPut()...)
	all = append(all, handovers()...)
	all = append(all, fills()...)
	all = append(all, limits()...)
	all = append(all, buffers()...)
	all = append(all, lists()...)
	return all
}

// Heading returns the title with its context.
func (s *Scenario) Heading() string {
	if s.Context == "" {
		return s.Title
	}
	return s.Context + ", " + s.Title
}

func cpus() int { return runtime.GOMAXPROCS(0) }

// Start prepares a contestant for the scenario: it adds the goroutines and
// their turns, and replaces functions that are nil.
func (s *Scenario) Start(c *Contestant, made *Made) Run {
	run := c.New(made)
	end := run.Close
	if end == nil {
		end = func() {}
	}
	run.Close = end
	if s.Turns {
		one := run.Do
		run.Do = func(n int) {
			for range n {
				one(1)
				runtime.Gosched()
			}
		}
	}
	if s.Goroutines > 1 {
		crew := measure.NewCrew(s.Goroutines, run.Do)
		run.Do, run.Close = crew.Do, func() { crew.Close(); end() }
	}
	return run
}
