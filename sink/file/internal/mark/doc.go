// SPDX-License-Identifier: Apache-2.0

// Package mark determines which records are in a log file although their spool
// has not stored that they are: the process died in between.
//
// A spool stores, with each settled batch, the position in the file where that
// batch ended. After a crash the bytes after it were written but not settled.
//
// That holds only if those bytes are in the file of the position. So a file is
// ended at the beginning of a Deliver, in steps, between which Deliver returns
// the batch to the spool:
//
//  1. the position is at the end of the file, and on the disk
//  2. the file is renamed, and a new one is made
//  3. the position is at the beginning of that, and on the disk
//  4. lines are written to it
//
// A process that dies in between has either written nothing to the new file, or
// stored a position in it. If logrotate renames the file, or it ends with a
// line that was not delivered, only steps 3 and 4 are needed; the old file is
// then found by its identity.
//
// The position is stored as a mark. A [Position] finds its file again, a
// [Section] is a part of a file in which records are searched, and [Claims]
// tell apart what several spools have written to one file. This package does
// not write to the log.
package mark
