// SPDX-License-Identifier: Apache-2.0

// Package segment reads and writes the files that a spool stores its records
// in. docs/spool-format.md describes their format.
//
// Any number of goroutines write to a [Segment]. A record is written in three
// steps: [Segment.Reserve] claims a place and a number with one
// compare-and-swap, [Segment.Write] marks the claim with its length, copies the
// record, and commits it with a single store. A reader follows the claims, and
// reads a record once it is committed.
//
// A Segment is memory on the heap, a mapping of its file, or memory whose
// records are written to the file before Write returns. Accesses to a mapping
// are guarded: if a page of the file is missing or cannot be read, the segment
// is broken, and the process goes on.
//
// An [Old] segment is one that another process has left. A [Scanner] reads its
// records, and finds out what is missing between them. Nothing in this package
// opens, names or deletes files: that is done by the packages above.
package segment
