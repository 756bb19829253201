// SPDX-License-Identifier: Apache-2.0

// Package store keeps the directory of a spool: which files it has, and who may
// use them. docs/spool-format.md describes them.
//
// [OpenDir] locks a directory for this process and finds the segments that
// earlier ones have left. A [Dir] makes, reopens, reads and deletes segments
// and their copies, and knows the file origin, by which a copy of a directory
// is recognized. A [Cursor] is the file with the progress of one destination. A
// [Home] is a directory that several processes share; each of them has a slot
// in it, which is a directory like any other. A [Sweeper] gives the memory and
// the disk space of deleted files back in small parts.
//
// An error of a read is never taken for damage: what cannot be read stays as it
// is. Nothing in this package runs a goroutine. It does not know which records
// are settled or where they are delivered.
package store
