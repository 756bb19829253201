// SPDX-License-Identifier: Apache-2.0

// Package bench compares nib with other logging libraries: one adapter file
// per library (nib.go, zerolog.go, …), one table of scenarios (scenario.go),
// and a check that all print equivalent JSON before anything is timed
// (check.go). cmd/nibbench runs it, cmd/table turns stored results into the
// tables of the documentation.
package bench

import (
	"context"
	"io"
	"time"

	"github.com/nib-log/nib/bench/measure"
)

// A Setup prepares a Run that writes its lines to p.W.
type Setup = func(p measure.Place) measure.Run

// A Peer is one library, configured as its own documentation recommends for
// speed.
type Peer struct {
	// Name is also the name of the adapter's file, which Caller must print.
	Name   string
	Module string // path for the version in the results; "" is the standard library or this module
	// DurationUnit is the unit of durations in its lines.
	DurationUnit time.Duration
	// SlogUnit is the same for SlogFront, where it differs.
	SlogUnit time.Duration
	// Rows are the rows of the tables that the library can do. The adapter says
	// why the others are not among them.
	Rows map[string]Setup
	// Service prepares the five lines of one request.
	Service         func(w io.Writer) func(id uint64)
	BufferedService func(w io.Writer) func(id uint64) // likewise, lines held back
}

// Peers lists the contestants in the order of the tables. nib comes first.
func Peers() []*Peer {
	return []*Peer{&nibPeer, &zerologPeer, &zapPeer, &phusluPeer, &slogPeer, &logrusPeer, &seedPeer}
}

// PeerOf returns a library by its name.
func PeerOf(name string) *Peer {
	for _, p := range Peers() {
		if p.Name == name {
			return p
		}
	}
	panic("bench: no library " + name)
}

// Row returns the Setup of a logger and a loop over its calls.
func Row[L any](open func(w io.Writer) L, do func(l L, n int)) Setup {
	return func(p measure.Place) measure.Run {
		l := open(p.W)
		return measure.Run{Do: func(n int) { do(l, n) }}
	}
}

var background = context.Background()
