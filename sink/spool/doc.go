// SPDX-License-Identifier: Apache-2.0

// Package spool keeps lines in memory-mapped files until a destination has taken
// them. A line whose call has returned survives the death of the process, by
// SIGKILL too, and is delivered by the next one.
//
//	out, err := file.Open("/var/log/app/app.log", file.Config{})
//	if err != nil {
//		return err
//	}
//	s, err := spool.Open("/var/spool/app", out, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	log := nib.NewSink(s)
//
// # How a record comes into being
//
// A queue with a lock would do, but whoever is suspended or killed while holding
// it takes the queue along. So a record is written in three steps, and each leaves
// something that a reader can understand, whenever the writer stops:
//
//	         reserve               mark               copy, commit
//	free ──────────────► claimed ────────► marked ───────────────► committed
//	word = 0             word = 0          word = -length           word = length, checksum
//
// reserve is one compare-and-swap on the tail of the segment, which holds the
// offset and the count of records: it takes a place and a number at once, so
// records lie in the order of their numbers. That is the order of each goroutine's
// calls as well. mark stores the negative length in the first word of the record:
// from now on a reader can step over it. Then the bytes are copied, they are
// final already and no code of the user's runs, and a checksum is taken of
// the copy. commit is one store of eight bytes, length and checksum together, after
// all others: who sees it, sees the record.
//
// A reader in the same process knows the tail. A claim below it that is
// not committed belongs to a goroutine that is at work, however long that takes:
// the reader waits. A reader after a crash holds the lock of the spool, so nobody
// is at work: what is not committed never will be. It is stepped over if marked;
// if it is not, the next record is found by looking at every eighth byte, and the
// numbers tell how many calls did not come to their end. None of them had returned.
//
// That holds for the death of the process, which leaves the pages to the system.
// After a loss of power any page may be old. Then the checksum decides, seeded
// differently in each segment: what is not exactly what was committed there is
// counted as damaged. Such a crash may take lines whose calls had returned.
//
// # Segments
//
// A segment is full when a record does not fit. It is sealed: the highest bit of
// its tail makes all later reservations fail; then the next one, which a goroutine has
// made, allocated and touched beforehand, is taken into use. A segment is unmapped
// when the reader has seen all its claims committed, which is a writer's last
// access, and deleted when everything in it is settled and the cursor
// says so on the disk. Recovery changes nothing in the segments it finds: dying
// in the midst of it costs nothing.
//
// docs/spool-format.md describes the files.
//
// # Accounts
//
// At any time when no call is under way
//
//	Logged + Recovered = Delivered + Pending + Unfinished + Lost()
//
// holds in [Stats], and in the [DestinationStats] of each destination: no line leaves
// uncounted. Lines that were dropped are announced by the first line of the next segment. The
// counts that no such line has told of are in the header of the active segment, so that a process that
// dies does not take them along: the next one announces them ([Stats.Inherited]). With
// several destinations an announcement tells of what any of them has lost, and is
// repeated if its segment is dropped before all have read it.
//
// # Limits
//
// A directory needs Linux; elsewhere Open returns errors.ErrUnsupported unless
// it is "". Lines survive a loss of power only as far as the system has written the
// pages by itself. A process that dies after its destination has accepted a batch, and before
// the cursor was written, delivers that batch again, at most one, unless the destination is
// a [Resumer], as that of sink/file. Truncating a
// segment in use from outside kills the process by SIGBUS.
package spool
