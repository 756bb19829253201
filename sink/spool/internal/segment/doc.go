// SPDX-License-Identifier: Apache-2.0

// Package segment reads and writes the files in which a spool stores its
// records. docs/spool-format.md describes their format.
//
// Any number of goroutines write to a [Segment]. A record is written in three
// steps: [Segment.Reserve] claims space and a number with one compare-and-swap,
// [Segment.Write] marks the claim with its length, copies the record, and
// commits it with a single store. A reader follows the claims, and reads a
// record once it is committed.
//
// A Segment is memory on the heap, a mapping of its file, or memory whose
// records are written to the file before Write returns. Accesses to a mapping
// are guarded: if a page of the file is missing or cannot be read, the segment
// is broken, and the process continues.
//
// An [Old] segment was left by another process. A [Scanner] reads its records,
// and determines which ones are missing between them. This package does not
// open, name or delete files; its callers do.
package segment
