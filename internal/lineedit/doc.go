// SPDX-License-Identifier: Apache-2.0

// Package lineedit changes a finished log line before it leaves: [Redact] masks
// secrets, [Duplicates] settles keys that stand there twice, [Shorten] cuts what
// is too long. Where more than one is wanted, that is their order: a secret is
// masked before anything could be cut off it, and what is thrown away as a
// duplicate needs no cutting.
//
// The line is one JSON object as package jsonenc writes it: without white space
// outside of strings, in UTF-8, with a newline behind it or not. Each function
// appends the edited line to dst, with the newline if there was one, and returns
// the extended slice. dst and line must not overlap. A line that is not such an
// object makes no function panic; it comes out much as it was, and no more valid.
//
// The functions keep no state but what is in a [Scratch], so any number of
// goroutines may call them with slices and a Scratch of their own. They allocate
// only to grow dst and the Scratch; dst may need room for the line and its
// longest string once more. All work in time proportional to the line, and to its
// logarithm where they sort.
package lineedit
