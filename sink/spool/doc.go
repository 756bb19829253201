// SPDX-License-Identifier: Apache-2.0

// Package spool keeps lines in memory-mapped files until a destination has taken
// them. A line whose call has returned survives the death of the process, by
// SIGKILL too, and is delivered by the next one. Some milliseconds later it survives a
// loss of power.
//
//	out, err := file.Open("/var/log/app/app.log", file.Config{})
//	if err != nil {
//		return err
//	}
//	defer out.Close()
//	s, err := spool.Open("/var/spool/app", out, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close() // before out
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
// taken from the copy, which has what was synced, and counted as damaged if it is not there.
//
// # Segments
//
// A segment is full when a record does not fit. It is sealed: the highest bit of
// its tail makes all later reservations fail; then the next one, which a goroutine has
// made, allocated and touched beforehand, is taken into use. A segment is unmapped
// when the reader has seen all its claims committed, which is a writer's last
// access, and deleted when everything in it is settled and the cursor
// says so on the disk.
//
// Recovery changes no record that it finds, so dying in the midst of it costs
// nothing. The new process continues the last segment behind its last record if
// the system has not been restarted since and nothing in the segment is
// unfinished; else it begins with a new one. If that would exceed
// [Config.Size] it begins with none, as full as a spool that has run full. So
// disk use is bounded over any number of starts.
//
// To make 8 MiB, and to give them back, takes the kernel milliseconds in which the processor runs
// nothing else: no call of this package waits for it, but a call of anybody may. One goroutine does all of it, in
// parts of some hundredths of a millisecond, and rests between them as long as there is time.
//
// docs/spool-format.md describes the files.
//
// Segments that wait for a destination stay mapped, but those that are not read soon have no pages in the
// memory of the process: a backlog is in the page cache, from where the system takes it when it needs room.
//
// # Copies
//
// The system writes pages of a mapping to the disk when it sees fit. To make it do so at once,
// with msync(2), would make each store to such a page wait meanwhile, and the calls
// with it. So a goroutine, the copier, reads what is committed, up to the first claim that is
// not, which no writer touches any more; writes it to the same place of a second file; and syncs
// that file, for all lines of the last milliseconds at once. Then it publishes how far that is:
// [Sink.Synced], [Sink.Sync]. Lines that their destination has settled by then are not
// copied. A call with an error waits for that if [SyncErrors] says so.
//
// A sync that fails is not tried again, since the system takes the pages for written then. What the file
// had is written once more, from memory, to another one that replaces it when it is on the
// disk. Meanwhile lines are taken as before, and are as safe as without copies.
//
// # Where files are not mapped
//
// Outside of Linux, on file systems that several machines share, and by [Config.Access], the same
// code makes the same bytes in memory, and writes them to the file before the call
// returns. A write that fails may have brought a record: it is overwritten with the
// mark of a claim, as soon as the file can be written, for its line gets another number.
//
//	        copy              write(2), store
//	marked ──────► ready ─────────────────────► committed
//	               word = -length, checksum     word = length, checksum
//
// One of the calls that wait for that writes what is ready for all of them. None waits for a
// call that is not ready: if one is in the way, each writes its own record. A reader sees records
// only when they are in the file, so a write that fails leaves nothing that might be delivered
// twice: its line gets a place in the next segment.
//
// # Files that go wrong
//
// An access to a mapping whose file was cut off, or cannot be read, is a signal that ends
// a Go program. Each access is guarded (debug.SetPanicOnFault), and costs the segment:
// it is sealed, the claim is void, and the line gets another number in the next segment, or is dropped if
// there is none. What was committed in the pages that are gone is counted as damaged. Such
// a segment stays mapped until the process ends, if anything of it could not be read.
//
// With the race detector this does not hold: its runtime does atomic operations in C, where a
// page that is gone ends the process.
//
// # Files that cannot be read now
//
// A read that fails is not damage, which only a checksum can show. Open fails if it cannot read
// what it needs, and changes nothing. Delivery reads again, with growing pauses. Nothing is settled,
// renamed or deleted meanwhile. There is one exception, for bad sectors: pages that fail with EIO
// in every attempt over 30 s, at least 10, while other pages of the same file can be read, count as
// damaged. Their records are counted, and the file is quarantined instead of deleted.
//
// # Accounts
//
// At any time when no call is under way
//
//	Logged + Recovered = Delivered + Pending + Unfinished + the sum of Dropped
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
// What a loss of power may take are the lines of the last 10 ms or so ([Config.SyncDelay],
// and how long the disk takes), those of a spool in /dev/shm or another
// file system in memory, which goes with the container as well, and those under
// the watermark if the disk says that it has what it has not. The copies take as much of
// the disk as the segments, as long as lines are not delivered. Counts of dropped lines
// that were not announced yet do not survive a loss of power.
//
// A disk that is slower than the lines come makes calls wait or drop lines, as OnFull says, when no
// segment is ready; before that it makes no call wait where files are mapped. Where they
// are written, each call is a system call.
//
// A process that dies after its destination has accepted a batch, and before
// the cursor was written, delivers that batch again, at most one, unless the destination is
// a [delivery.Resumer], as that of sink/file.
package spool
