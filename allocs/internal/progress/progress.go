// SPDX-License-Identifier: Apache-2.0

// Package progress reports the current step and how much of the work is done.
//
// A Plan has the stages and gives each a share of the whole. The shares are
// those of a first run on a medium-sized module; a run that finds many kept
// results is faster in some stages, but progress never decreases.
package progress

import "sync"

// Stage is a step of the work on one toolchain.
type Stage string

// The stages, in the order in which they come.
const (
	Find     Stage = "finding Go"         // once for each release
	Source   Stage = "reading the source" // once, for all toolchains
	Compile  Stage = "compiling"
	Canary   Stage = "trying the canary"
	Compiler Stage = "asking the compiler"
	Link     Stage = "linking"
	Measure  Stage = "measuring"
	Visit    Stage = "seeing which lines are run"
	Decide   Stage = "deciding"
	Calls    Stage = "following dynamic calls" // if a root reaches one
)

// shares of the stages of one toolchain. Those of Measure and Visit are for all
// packages together.
var shares = map[Stage]float64{Compile: 12, Canary: 8, Compiler: 12, Link: 14, Measure: 28, Visit: 10, Decide: 4, Calls: 12}

var order = []Stage{Compile, Canary, Compiler, Link, Measure, Visit, Decide, Calls}

// sourceShare is the share of reading the source in the whole work.
const sourceShare = 0.04

// Event is the beginning of a stage.
type Event struct {
	Toolchain string // "" for steps that run once
	Stage     Stage
	Subject   string  // subject of the step, such as a package; often ""
	Done      float64 // the part of the work that is done, 0 to 1
}

// Plan is the work of one run. Its methods, and those of its parts, may be
// called concurrently; the callback is called by one goroutine at a time.
type Plan struct {
	mu    sync.Mutex
	tell  func(Event)
	parts []*Part
	last  float64
}

// New returns a plan that calls f, which may be nil, with each event.
func New(f func(Event)) *Plan { return &Plan{tell: f} }

// Once reports a step that runs once, before all toolchains.
func (p *Plan) Once(s Stage, subject string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.event(Event{Stage: s, Subject: subject})
}

// Toolchains returns a part for each toolchain.
func (p *Plan) Toolchains(names []string) []*Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range names {
		p.parts = append(p.parts, &Part{plan: p, name: n})
	}
	return p.parts
}

// event fills in the part that is done, which never falls, and calls the
// callback.
func (p *Plan) event(e Event) {
	if len(p.parts) > 0 {
		sum := 0.0
		for _, x := range p.parts {
			sum += x.done()
		}
		p.last = max(p.last, sourceShare+(1-sourceShare)*sum/float64(len(p.parts)))
	}
	e.Done = p.last
	if p.tell != nil {
		p.tell(e)
	}
}

// Part is the work on one toolchain.
type Part struct {
	plan     *Plan
	name     string
	stage    Stage
	packages int // number of packages that have something to run
	begun    int // number of packages begun, including the current one
	ended    bool
}

// Packages sets how many packages have runs.
func (x *Part) Packages(n int) {
	x.plan.mu.Lock()
	defer x.plan.mu.Unlock()
	x.packages = n
}

// Start reports that a stage begins. Measure and Visit come once for each
// package.
func (x *Part) Start(s Stage, subject string) {
	x.plan.mu.Lock()
	defer x.plan.mu.Unlock()
	x.stage = s
	if s == Measure {
		x.begun++
	}
	x.plan.event(Event{Toolchain: x.name, Stage: s, Subject: subject})
}

// End reports that the toolchain is done.
func (x *Part) End() {
	x.plan.mu.Lock()
	defer x.plan.mu.Unlock()
	x.ended = true
}

// done returns the part of this toolchain's work that is done, 0 to 1.
func (x *Part) done() float64 {
	if x.ended {
		return 1
	}
	over, all := 0.0, 0.0
	for _, s := range order {
		all += shares[s]
		if rank(s) < rank(x.stage) {
			over += shares[s]
		}
	}
	if x.stage != Measure && x.stage != Visit {
		return over / all
	}
	// Measure and Visit alternate from package to package.
	each := 1 / float64(max(x.packages, x.begun, 1))
	over -= shares[Measure] * float64(rank(x.stage)-rank(Measure))
	over += (shares[Measure] + shares[Visit]) * each * float64(x.begun-1)
	if x.stage == Visit {
		over += shares[Measure] * each
	}
	return over / all
}

// rank returns the place of a stage in the order; before all of them it is -1.
func rank(s Stage) int {
	for i, o := range order {
		if o == s {
			return i
		}
	}
	return -1
}
