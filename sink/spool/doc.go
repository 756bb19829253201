// SPDX-License-Identifier: Apache-2.0

// Package spool stores lines in memory-mapped files until a destination has
// accepted them. A line whose call has returned survives the death of the
// process, even by SIGKILL, and is delivered by the next process. A few
// milliseconds later it also survives a power failure.
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
// # Writing a record
//
// A locked queue would be simpler, but a goroutine that is suspended or killed
// while it holds the lock blocks the queue. So a record is written in three
// steps, and a reader can interpret the state after each of them, whenever the
// writer stops:
//
//	         reserve               mark               copy, commit
//	free ──────────────► claimed ────────► marked ───────────────► committed
//	word = 0             word = 0          word = -length           word = length, checksum
//
// reserve is one compare-and-swap on the tail of the segment, which holds the
// offset and the count of records. It claims space and a record number at once,
// so records are stored in the order of their numbers, which is also the order
// of each goroutine's calls. mark stores the negative length in the first word
// of the record: from then on a reader can skip it. Then the bytes are copied
// and a checksum is computed from the copy; the bytes are final by then, and no
// user code runs. commit is a single store of eight bytes, length and checksum
// together, after all other stores: a reader that sees it sees the whole
// record.
//
// A reader in the same process can read the tail. A claim below the tail that
// is not committed belongs to a running goroutine, so the reader waits for it
// without limit. A reader after a crash holds the lock of the spool, so there
// are no writers, and a claim that is not committed never will be. If it is
// marked, the reader skips it. If not, the reader looks for the next record at
// every eighth byte, and the record numbers show how many calls did not
// complete. None of those calls had returned.
//
// All of this holds if the process dies, because the pages stay in the page
// cache. After a power failure any page may be stale. Then the checksum
// decides, with a different seed for each segment: a record that does not match
// is read from the copy, which has everything that was synced. If it is not
// there either, it is counted as damaged.
//
// # Segments
//
// A segment is full when a record does not fit. It is sealed: the highest bit
// of its tail makes all later reservations fail. Then the next segment becomes
// active; a goroutine has created, allocated and prefaulted it beforehand. A
// segment is unmapped when the reader has seen all of its claims committed,
// since a commit is a writer's last access. It is deleted when all of its
// records are settled and the cursor on disk has passed them.
//
// Recovery does not modify the records that it finds, so a crash during
// recovery does no harm. The new process continues the last segment after its
// last record if the system has not been restarted since, no record in the
// segment is unfinished, and fewer than 129 processes have written to it.
// Otherwise it starts a new segment. If this segment would exceed
// [Config.Size], it starts without one, as a spool that has become full. So
// disk use is bounded over any number of restarts.
//
// Creating and freeing 8 MiB takes milliseconds in the kernel, during which the
// processor runs nothing else. No call of this package waits for that, but any
// other goroutine may. So a single goroutine does all of this work in steps of
// some hundredths of a millisecond, and pauses between them while there is
// time.
//
// docs/spool-format.md describes the files.
//
// Segments that wait for a destination stay mapped, but those that are not read
// soon have no resident pages: a backlog is in the page cache, where the system
// can reclaim it under memory pressure.
//
// # Identities
//
// Each process that opens a spool draws a random number, its stream, and the
// records that it accepts are delivered with it as [nib.Record.Spool]; records
// that it finds keep theirs. So a directory that is copied, or restored from a
// backup, never gives the identity of a delivered record to another one. A
// batch has records of one stream.
//
// # Copies
//
// The system writes the pages of a mapping to disk when it sees fit. Forcing it
// with msync(2) would delay each store to such a page, and the calls with it.
// So a goroutine, the copier, reads the committed records, up to the first
// uncommitted claim, which writers no longer modify. It writes them to the same
// offsets of a second file and syncs that file once for all lines of the last
// few milliseconds. Then it publishes its progress for [Sink.Sync]. It copies
// only lines that their destination has not settled within half of
// [Config.SyncDelay]: while the destination keeps up, nothing is copied and
// synced. With [SyncErrors], a call at LevelError or above waits until its line
// is synced.
//
// A failed sync is not retried, since the system then considers the pages
// written. The contents of the file are written again, from memory, to a new
// file that replaces it once it is on disk. Until then lines are accepted as
// usual, and are as safe as without copies. The same holds while a page of a
// segment cannot be read; lines then continue in another segment.
//
// # Unmapped files
//
// On systems other than Linux, on network file systems, and with
// Config.Written, the same code builds the same bytes in memory and writes them
// to the file before the call returns. A failed write may have written a
// complete record. It is overwritten with the mark of a claim as soon as the
// file can be written, because its line gets another number.
//
//	        copy              write(2), store
//	marked ──────► ready ─────────────────────► committed
//	               word = -length, checksum     word = length, checksum
//
// One of the waiting calls writes all ready records on behalf of the others. No
// call waits for a record that is not ready: if one is in the way, each call
// writes its own record. A reader sees records only when they are in the file,
// so a failed write leaves nothing that could be delivered twice: its line gets
// a place in the next segment.
//
// # Truncated and unreadable files
//
// An access to a mapping whose file was truncated or cannot be read raises a
// signal that terminates a Go program. Each access is guarded
// (debug.SetPanicOnFault). A fault costs the segment: it is sealed, the claim
// is void, and the line gets another number in the next segment, or is dropped
// if there is none. Records in the missing pages are counted as damaged. If any
// part of such a segment could not be read, it stays mapped until the process
// exits.
//
// This does not work under the race detector: its runtime performs atomic
// operations in C, where access to a missing page terminates the process.
//
// # Temporary read errors
//
// A failed read is not damage; only a checksum can prove damage. Open fails if
// it cannot read a file that it needs, and changes nothing. Delivery retries
// with growing pauses, and until it succeeds nothing is settled, renamed or
// deleted. There is one exception, for bad sectors: pages that fail with EIO in
// every attempt over 30 s, and at least 10 attempts, while other pages of the
// same file can be read, count as damaged. Their records are counted, and the
// file is quarantined instead of deleted.
//
// # Counters
//
// While no call is in progress,
//
//	Logged + Recovered = Delivered + Pending + Unfinished + the sum of Dropped
//
// holds in [Stats], and in the [DestinationStats] of each destination: every
// line is accounted for. Dropped lines are reported by notices, which are the
// first lines of the next segment:
//
//   - one for all destinations, of lines that were dropped before they got a
//     place in a segment. Counts that no such notice has reported yet are
//     stored in the header of the active segment;
//   - one for each destination that has lost lines which others may have got:
//     in dropped segments, rejected, or damaged. The other destinations do not
//     get it. The counts are stored in the cursor of the destination until it
//     has settled the notice, in the same write as its position.
//
// So the counts survive the death of the process, and the next process reports
// them ([Stats.Inherited]). A destination that rejects a notice, or whose
// notice was in a dropped segment, gets another one. A process that only
// delivers keeps the last header while counts are left. With Config.Shared it
// adds a segment with the notices to the slot of a dead process, so no count
// moves between two directories.
//
// # Limits
//
// A power failure may lose
//
//   - the lines of about the last 10 ms: [Config.SyncDelay] plus the latency of
//     the disk
//   - all lines of a spool in /dev/shm or another in-memory file system, which
//     a container also loses when it is removed
//   - older lines, if the disk acknowledges writes that it has not made durable
//   - counts of dropped lines that were not reported yet
//
// The copies use as much disk space as the segments while lines are not
// delivered.
//
// If the disk cannot keep up, calls wait or drop lines once no segment is
// ready, depending on [Config.OnFull]. Before that no call waits for the disk
// where files are mapped. Where they are written, each call makes a system
// call.
//
// If a process dies after its destination has accepted a batch and before the
// cursor is written, the next process delivers that one batch again, unless the
// destination is a [delivery.Resumer], as sink/file is.
package spool

// To read the source, begin with a line of one process, and its segment:
//
//	config.go         Config; sizes.go: its default sizes
//	sink.go           a Sink: Open, WriteRecord, Flush, Close
//	internal/segment  the steps of a record: Reserve and Write in segment.go,
//	                  PutRecord in format.go
//	chain.go          what the goroutines of a Sink share, and its lock
//	roll.go           a full segment: the next one, or drop the line
//	maker.go          the goroutine that makes segments in advance and frees old ones
//	internal/deliver  the goroutine of a destination; see its doc.go
//	deliveries.go     what it calls here, and the end of the last delivery
//	copier.go         the goroutine that syncs lines; sync.go: calls that wait for it
//
// Then a start (recover.go, first.go, internal/store), dropped lines (drops.go,
// oldest.go), reports and counts (report.go, stats.go, metrics.go),
// and readers of a directory (inspect.go, records.go). Only Config.Shared needs
// peers.go, shared.go and adopt.go.
