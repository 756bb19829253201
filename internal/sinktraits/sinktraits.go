// SPDX-License-Identifier: Apache-2.0

// Package sinktraits holds what the sinks of this repository state about
// themselves to the loggers that write to them.
//
// A sink embeds a [Set] under an unexported name, so that neither godoc nor the
// compiler shows it to users:
//
//	type traits = sinktraits.Set
//
//	type Sink struct {
//		traits
//	}
package sinktraits

// Traits is a set of bits.
type Traits uint8

const (
	// NeverLogs is set if WriteRecord cannot call back into a Logger, which
	// then does not watch for recursion.
	NeverLogs Traits = 1 << iota
	// TextDurations is set if people read the lines: a logger without a Layout
	// writes durations with their unit.
	TextDurations
)

// Set is embedded in a sink. The zero Set has no traits.
type Set struct {
	owner  any
	traits Traits
}

// For returns the Set of owner. A type that embeds owner and has a WriteRecord
// of its own does not inherit it. With a nil owner it does.
func For(owner any, t Traits) Set { return Set{owner, t} }

// sinkTraits cannot be called or overridden outside of this package.
func (s Set) sinkTraits() Set { return s }

// Of returns the traits of a sink, 0 for one that has no Set.
func Of(sink any) Traits {
	s, ok := sink.(interface{ sinkTraits() Set })
	if !ok {
		return 0
	}
	set := s.sinkTraits()
	if set.owner != nil && set.owner != sink {
		return 0
	}
	return set.traits
}
