// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"context"

	"github.com/nib-log/nib"
)

// A Flusher buffers lines. Flush returns when everything accepted before the
// call is as safe as the sink or destination promises, or when ctx is done.
type Flusher interface {
	Flush(ctx context.Context) error
}

// A Pinger checks that its destination can be reached. Ping connects if
// necessary, delivers nothing, and returns nil if the next Deliver is expected
// to succeed. It may be called at any time, also during Deliver.
type Pinger interface {
	Ping(ctx context.Context) error
}

// A Resumer can determine which records it has accepted. A process may die
// after a destination has accepted a batch and before the spool has recorded
// it; a Resumer does not get such records a second time. A spool in memory does
// not use it.
//
// Mark is called before the first Deliver and after each Deliver that has
// settled records. The spool stores the result, at most 40 bytes, together
// with the number of settled records. If Mark returns nil before the first
// Deliver, the stored mark is kept.
//
// Resume is called before anything else if another process has left records.
// Its arguments are the mark that was stored last, nil if there is none, and
// the first records that are not settled. It returns how many leading records
// of these the destination has already accepted. If it has accepted them all,
// Resume is called again with the next records; after an error it is called
// again later.
type Resumer interface {
	Mark() []byte
	Resume(ctx context.Context, mark []byte, batch []nib.Record) (taken int, err error)
}

// A MarkSyncer is a [Resumer] that sometimes needs its mark on disk before it
// continues. SyncMark is called after each Deliver; if it returns true, the
// spool stores and syncs the mark before the next Deliver. A Deliver that is
// followed by such a SyncMark may settle nothing and return no error, a few
// times in a row; after that it counts as a failed attempt.
type MarkSyncer interface {
	SyncMark() bool
}

// A Batcher chooses the maximum number of records and the approximate number of
// bytes of its batches, up to 65,536 and 64 MiB; higher values count as these.
// Other destinations get up to 1,024 records and 1 MiB.
// The spool keeps a buffer of that size for each destination.
type Batcher interface {
	BatchSize() (records, bytes int)
}

// An Overlapper works on several requests at a time. Overlap is called once,
// before anything else. From then on Deliver may return without an error when a
// part of the batch is settled and the rest is in flight. The next batch begins
// with that rest and has more records after it, also after a failure. The
// buffer of a [Batcher] is divided into two halves for it.
type Overlapper interface {
	Overlap()
}

// A Starter knows which records are new. Before it accepts records, a spool
// calls Start with the Spool that they will have: a random number, which is the
// number of no other record anywhere. If such a record seems to be there when
// it is delivered for the first time, then it is another one, and accepting it
// would lose the record. Start may be called during Deliver, with records of
// another spool.
type Starter interface {
	Start(spool uint64)
}

// A Forker makes another destination of the same kind and configuration. The
// progress that a destination stores belongs to one spool, so a spool that
// several processes share delivers the records of dead processes to
// destinations that Fork returns. It closes those that have a Close method.
// Fork may be called during Deliver. A destination without Fork gets the
// records of all spools: its calls do not overlap, but calls for different
// spools alternate. It must be neither a [Resumer] nor an [Overlapper].
type Forker interface {
	Fork() (Destination, error)
}
