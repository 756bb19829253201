// SPDX-License-Identifier: Apache-2.0

// Package store manages the directory of a spool: its files, and which process
// may use them. docs/spool-format.md describes the files.
//
// [OpenDir] locks a directory for this process and finds the segments that
// earlier ones have left. A [Dir] makes, reopens, reads and deletes segments
// and their copies. A [Cursor] is the file with the progress of one
// destination. A [Home] is a directory that several processes share; each of
// them has a slot in it, which is a directory like any other. A [Sweeper] frees
// the memory and the disk space of deleted files in small parts.
//
// Read dir.go, owner.go and hold.go for the lock and a start, make.go,
// copies.go and cursor.go for the files, and pages.go for damaged ones.
// reuse.go and sweep.go only save time.
//
// A read error never counts as damage: a file that cannot be read is left
// unchanged. This package starts no goroutines, and does not depend on
// delivery.
package store
