// SPDX-License-Identifier: Apache-2.0

// Package bench compares nib with other logging libraries: one adapter file
// per library (nib.go, zerolog.go, …), one table of scenarios (scenario.go),
// and a check that all print equivalent JSON before anything is timed
// (check.go). cmd/nibbench runs it, cmd/table turns stored results into the
// tables and the chart of the documentation.
package bench

import (
	"io"
	"time"
)

// A Run is one library made ready for one scenario.
type Run struct {
	// Do logs n lines. The loop is in the adapter, so that the cost of the
	// indirect call is paid once per round and not once per line. Do may be
	// called by several goroutines at once.
	Do func(n int)
	// Flush, if not nil, writes buffered lines. It is part of the timed round.
	Flush func()
	// Close, if not nil, ends goroutines, and closes files that were opened a
	// second time.
	Close func()
}

// A Setup prepares a Run that writes its lines to w.
type Setup func(w io.Writer) Run

// A Peer is one library, configured as its own documentation recommends for
// speed. The Setup of a scenario that it does not support is nil; the adapter
// says why.
type Peer struct {
	Name   string
	Module string // path for the version in the results; "" is the standard library or this module
	File   string // the adapter's file name, which Caller must print
	// DurationUnit is the unit of durations in its lines.
	DurationUnit time.Duration
	// SlogUnit is the same for SlogFront, where it differs.
	SlogUnit time.Duration

	Disabled  Setup // a call with three fields below the logger's level
	Message   Setup // message only
	Fields    Setup // message and ten fields
	Bound     Setup // message, ten fields bound to the logger beforehand
	Caller    Setup // message and call site
	Error     Setup // message and error, at level error
	Formatted Setup // message from a format and two arguments
	Pointer   Setup // a struct given by pointer as any value
	Struct    Setup // a struct given by value
	Composite Setup // array of ten ints and dictionary of five entries
	Unicode   Setup // message and three fields outside of ASCII
	Escapes   Setup // message and three fields that need escaping
	Attrs     Setup // the ten fields as attributes of one call
	SlogFront Setup // five attributes through a *slog.Logger
	Bare      Setup // message only, without time and level
	Buffered  Setup // the ten fields; the library holds lines back and writes many at once. w is an *os.File

	// Service prepares the five lines of one request; w is an *os.File.
	Service         func(w io.Writer) func(id uint64)
	BufferedService func(w io.Writer) func(id uint64) // likewise, lines held back
}

// Peers lists the contestants in the order of the tables. nib comes first.
func Peers() []*Peer {
	return []*Peer{&nibPeer, &zerologPeer, &zapPeer, &phusluPeer, &slogPeer, &logrusPeer, &seedPeer}
}

// run returns the Run of a library that buffers nothing.
func run(do func(n int)) Run { return Run{Do: do} }
