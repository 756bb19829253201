// SPDX-License-Identifier: Apache-2.0

// Package invariants holds the checks that find misuse of pooled values. They
// are on in builds with -race or -tags invariants and cost nothing in any
// other build: [Enabled] is a constant, [Stack] is an empty type and the
// functions have empty bodies, which the compiler inlines away.
//
// A pooled value that is used after it was given back is the hardest fault to
// find by looking at its effects, because they show up in someone else's
// value. With the checks on, the owner of a pool marks a value as finished,
// remembers where ([Stack]), destroys the bytes ([Poison]) and does not hand
// the value out again, so that each later use is seen and can be named.
package invariants
