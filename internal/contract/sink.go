// SPDX-License-Identifier: Apache-2.0

// Package contract defines the contracts between package nib and other packages
// of this repository that are not visible to users: the traits of sinks, the
// context key of loggers, the mask of secrets.
package contract

// Traits is a set of properties of a sink or a sampler, for the loggers that
// use it. A sink embeds a [TraitSet] under an unexported name, so that neither
// godoc nor the compiler shows it to users:
//
//	type traits = contract.TraitSet
//
//	type Sink struct {
//		traits
//	}
type Traits uint8

const (
	// NeverLogs is set if WriteRecord, or Sample of a sampler, cannot call back
	// into a Logger, which then does not check for recursion.
	NeverLogs Traits = 1 << iota
	// TextDurations is set if people read the lines: a logger without a Layout
	// writes durations with their unit.
	TextDurations
	// WritesLines is set if WriteRecord writes to an io.Writer of the program by
	// package linewriter, before it returns.
	WritesLines
	// IgnoresTime is set if WriteRecord does not use the Time of a record, which
	// may then be 0.
	IgnoresTime
)

// A TraitSet is embedded in a sink. The zero TraitSet has no traits.
type TraitSet struct {
	owner  any
	traits Traits
}

// TraitsFor returns the TraitSet of owner. A type that embeds owner and
// declares WriteRecord does not inherit it, unless owner is nil.
func TraitsFor(owner any, t Traits) TraitSet { return TraitSet{owner, t} }

// sinkTraits cannot be called or overridden outside of this package.
func (s TraitSet) sinkTraits() TraitSet { return s }

// TraitsOf returns the traits of a sink, or 0 if it has no TraitSet.
func TraitsOf(sink any) Traits {
	s, ok := sink.(interface{ sinkTraits() TraitSet })
	if !ok {
		return 0
	}
	set := s.sinkTraits()
	if set.owner != nil && set.owner != sink {
		return 0
	}
	return set.traits
}

// Has reports whether s has the traits t.
func Has(s TraitSet, t Traits) bool { return s.traits&t == t }

// A Threshold is the lowest level that a sink does not hold back, for packages
// that configure the level of its lines. The sink embeds it under an unexported
// name, as a [TraitSet].
type Threshold struct{ level int }

// ThresholdAt returns the Threshold of a level.
func ThresholdAt(level int) Threshold { return Threshold{level} }

func (t Threshold) threshold() int { return t.level }

// ThresholdOf returns the level of the Threshold that a sink embeds.
func ThresholdOf(sink interface{ threshold() int }) int { return sink.threshold() }
