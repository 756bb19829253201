// SPDX-License-Identifier: Apache-2.0

// Package invariants holds the checks that find misuse of pooled values. They
// are on in builds with -race or -tags invariants and cost nothing in any
// other build: [Enabled] is a constant, [Stack] is an empty type and the
// functions have empty bodies, which the compiler inlines away.
//
// The use of a pooled value after it was returned is hard to find by its
// effects, because they appear in another value. With the checks on, the owner
// of a pool marks a value as finished, records where ([Stack]), overwrites the
// bytes ([Poison]) and does not reuse the value, so that each later use is
// detected and reported.
package invariants
