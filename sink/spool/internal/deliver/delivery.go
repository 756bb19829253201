// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/retry"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// The maximum number of records in a batch, and of bytes unless it is a single
// record.
const (
	BatchRecords = 1024
	batchBytes   = 1 << 20

	// The limits of a delivery.Batcher's choice.
	mostRecords = 64 << 10
	mostBytes   = 64 << 20
)

// mostSyncs is the maximum number of consecutive attempts that settle nothing
// because the mark must be synced first. Further ones count as failed.
const mostSyncs = 8

// LongestPause is the longest pause between two attempts.
const LongestPause = 5 * time.Second

// linger is the time for which records collect after some have been delivered.
// Waking a goroutine takes a writer's time, and a batch costs a destination
// about as much as a record does, so this happens at most 250 times a second.
// It is less than half of the default of Config.SyncDelay: lines that are
// settled by then are not copied.
//
// When more than a batch has collected, the time is shortLinger: records are
// read while they are in the cache, and settled segments can be used again
// early.
const (
	linger      = 4 * time.Millisecond
	shortLinger = time.Millisecond
)

// A Delivery is a destination and the goroutine that reads the segments in
// order and delivers copies to it. The goroutines share only the state that the
// lock of the chain protects, and the segments, which they only read.
//
// It reads one segment at a time: an old one, which it reads into memory, or
// one of this process. Records stay in the batch until they are settled. A
// [delivery.Overlapper] gets more records after the rest of a batch, so reading
// may be some segments ahead of settling.
type Delivery struct {
	account
	Dest delivery.Destination // if nil, segments are unmapped and kept
	Turn chan struct{}        // taken during a call if dest serves several spools, or nil

	reader
	buffers
	marks

	signals
	timer *time.Timer // timer of sleep; nil before the first
	slept uint64      // value of want during the last sleep
	Pause retry.Pause

	finishing bool // deliverAll has returned
}

// An account is how far a destination has settled the records, what it has
// lost, and the cursor that stores both.
type account struct {
	chain   *Chain
	spool   Spool
	Options Options
	dir     *store.Dir // nil if the spool is in memory
	opened  uint64     // number of the first record of this process

	progress
	losses
	Cursor  *store.Cursor // nil in memory
	stale   bool          // the last position could not be written to Cursor
	putting sync.Mutex    // held while Cursor is written; taken before the lock of the chain
}

// Options describes a destination, and how the spool delivers to it.
type Options struct {
	Context context.Context // ends with delivery
	Name    string          // name of the cursor
	Label   string          // name in metrics and errors

	Size         int64 // size of the spool
	SegmentSize  int64
	RejectedSize int64         // maximum size of the file of rejected records
	Tick         time.Duration // the first pause between attempts

	Idle *atomic.Bool    // a delivering goroutine is asleep and must be woken
	Safe <-chan struct{} // closed when the records of the first segment may be delivered
}

// progress is the progress of a destination. The lock of the chain protects it.
type progress struct {
	cur        *Link         // all links before cur are settled
	reading    *Link         // the link that is read: cur or a later one
	Settled    uint64        // the position: number of the first record that is not settled
	checkpoint checkpoint    // at that record or an earlier one
	Skipped    uint64        // numbers from Settled on without a line for this destination
	Dropped    segment.Tally // records dropped on the way to this destination
	Recovered  uint64
	Delivered  uint64
	Traffic    level.Traffic // counts of the delivered records
	Unfinished uint64
	Attempts   uint64
	Failures   uint64
	Since      time.Time // time at which the current call began
	outage     outage
	Unsaved    uint64 // rejected records that are not in the file of rejected records
	LinesLeft  uint64 // lines in memory that were dropped
}

// A checkpoint is the offset of a record in a segment of this process, before
// which every record is settled.
type checkpoint struct {
	segment uint64 // number of the segment
	at      int
	seq     uint64
}

// A reader is the state of reading a segment.
type reader struct {
	entered bool             // reading was begun
	scan    *segment.Scanner // reads the segment, if it is old or rescued
	torn    bool             // if reading is old: the records missing at its end are damaged
	again   rereading        // state of reading again, if reading is old or rescued
	at      int              // offset of the next record in reading, if it is of this process
	want    uint64           // number of the next record in reading
	witness bool             // the word before at was not 0 when it was read
	rescued bool             // reading is of this process and is rescued
}

// buffers hold the records that are not settled.
type buffers struct {
	batch []nib.Record
	out   []nib.Record // the batch as passed to the destination
	buf   []byte       // the bytes of the batch
	names map[string]string

	Overlaps bool   // the destination is a delivery.Overlapper
	other    []byte // for an Overlapper: the bytes of the first records of the batch
	early    int    // number of records whose bytes are in other

	accepted   []nib.Record // records accepted by the destination and not settled yet, or nil
	rejections []delivery.Rejection

	bufSize int // size of buf, unless it holds a single long record
}

// marks are the marks that the spool stores for a destination.
type marks struct {
	marker delivery.Resumer // dest, if it is a Resumer and there is a cursor
	syncer delivery.MarkSyncer
	// Number of consecutive attempts that settled nothing, after which the mark
	// was synced.
	synced  int
	resumer delivery.Resumer // nil if Resume is no longer called
	begun   bool             // Deliver was called, or is going to be
}

// New adds a delivery to a chain. It is not started.
func New(chain *Chain, s Spool, c Options, dest delivery.Destination) *Delivery {
	records, bytes := BatchRecords, batchBytes
	if b, ok := dest.(delivery.Batcher); ok {
		records, bytes = b.BatchSize()
	}
	records, bytes = min(max(records, 1), mostRecords), min(max(bytes, segment.MinSize), mostBytes)
	o, overlaps := dest.(delivery.Overlapper)
	var other []byte
	if overlaps {
		o.Overlap()
		bytes /= 2
		other = make([]byte, 0, bytes)
	}
	d := &Delivery{
		account: account{chain: chain, spool: s, Options: c, progress: progress{Settled: 1}},
		Dest:    dest,
		buffers: buffers{
			batch: make([]nib.Record, 0, records), names: map[string]string{},
			buf: make([]byte, 0, bytes), bufSize: bytes, Overlaps: overlaps, other: other,
		},
		signals: signals{make(chan struct{}, 1), make(chan struct{}, 1)},
	}
	chain.Deliveries = append(chain.Deliveries, d)
	return d
}

// OpenCursor opens the cursor in a directory, and returns the position in it.
// If there is none, delivery begins with the oldest record.
func (d *Delivery) OpenCursor(dir *store.Dir) (settled uint64, err error) {
	var ok bool
	if d.Cursor, d.Settled, ok, err = store.OpenCursor(dir, d.Options.Name); err != nil {
		return 0, err
	}
	d.dir = dir
	d.marker, _ = d.Dest.(delivery.Resumer)
	d.resumer, _ = d.Dest.(delivery.Resumer)
	d.syncer, _ = d.Dest.(delivery.MarkSyncer)
	if !ok {
		d.Settled = 1
	}
	return d.Settled, nil
}

// CloseCursor undoes OpenCursor.
func (d *account) CloseCursor() {
	d.Cursor, d.dir = nil, nil
	d.Settled, d.Recovered, d.Skipped, d.losses = 1, 0, 0, losses{}
}

// Begin prepares a delivery that starts with link first. The records of this
// process start with number opened.
func (d *account) Begin(opened uint64, first *Link) {
	d.opened, d.cur, d.reading = opened, first, first
}

// signals are what other goroutines send to a delivery.
type signals struct {
	wakeup chan struct{} // there may be something to do
	urged  chan struct{} // a call waits for the delivery
}

// Wake wakes the delivery if it is asleep.
func (s *signals) Wake() { store.Signal(s.wakeup) }

// Urge wakes the delivery, whether it is asleep or between two attempts.
func (s *signals) Urge() {
	store.Signal(s.wakeup)
	store.Signal(s.urged)
}

// deliver delivers the batch until all of it is settled, or the sink stops. A
// [delivery.Overlapper] may get more records after the unsettled ones. Records
// whose frame is whole but whose content is invalid count as damaged. The
// records of an attempt are of one stream.
func (d *Delivery) deliver() {
	rest, more := d.batch, false
	for len(rest) > 0 && !more && d.Options.Context.Err() == nil {
		if rest[0].Line == nil {
			d.settleMissing(1, 1)
			rest = rest[1:]
			continue
		}
		whole := 1
		for whole < len(rest) && rest[whole].Line != nil && rest[whole].Spool == rest[0].Spool {
			whole++
		}
		n, again, err := d.deliverOnce(rest[:whole])
		rest = rest[n:]
		if n > 0 || err == nil && again {
			d.endOutage()
		}
		switch {
		case err == nil && n == whole:
			d.Pause = 0
		case err == nil && again: // no attempt was made
		case err == nil && n > 0 && d.Overlaps:
			d.Pause, more = 0, true
		default:
			d.failed(n, err)
			more = d.Overlaps // the following records may show why
		}
	}
	d.retain(rest)
	d.leaveSettled()
}

// deliverOnce makes one attempt and settles n records. If again is true,
// another attempt follows whatever n is.
func (d *Delivery) deliverOnce(batch []nib.Record) (n int, again bool, err error) {
	if d.resumer != nil && batch[0].Seq < d.opened {
		n, err = d.resume(batch)
		return n, true, err
	}
	if !d.begun {
		d.storeFirstMark()
	}
	var res delivery.Result
	err = d.try(batch, func(ctx context.Context) (err error) {
		res, err = d.Dest.Deliver(ctx, d.out)
		return err
	})
	if n = min(max(res.Accepted, 0), len(batch)); n > 0 {
		d.accepted, d.rejections = batch[:n], res.Rejected
		d.mark(true)
		d.settleBatch(batch[:n], res.Rejected)
		d.accepted = nil
	}
	if d.syncer != nil && d.syncMark() {
		d.synced++
		again = d.synced <= mostSyncs
	} else {
		d.synced = 0
	}
	if n > 0 {
		d.synced = 0
	}
	return n, again, err
}

// failed counts an attempt that has not settled everything, and waits, unless
// the destination merely accepts a part of a batch at a time.
func (d *Delivery) failed(settled int, err error) {
	d.chain.Lock()
	d.Failures++
	d.chain.Unlock()
	if err == nil && settled > 0 {
		return
	}
	if d.Options.Context.Err() != nil {
		if err != nil && !errors.Is(err, context.Canceled) {
			// Nothing else reports why lines are left if the first attempt
			// lasts until Close.
			d.attemptFailed(err)
		}
		return
	}
	if err == nil {
		err = ErrNothing
	}
	d.attemptFailed(err)
	if settled > 0 {
		d.Pause = 0
	}
	d.wait()
}

// wait waits before another attempt. Flush and Close end all but the first
// pause early.
func (d *Delivery) wait() {
	pause := d.Pause.Next(d.Options.Tick, LongestPause)
	least := d.Options.Tick / 2
	timer := time.NewTimer(least)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.Options.Context.Done():
		return
	}
	timer.Reset(pause - least)
	select {
	case <-timer.C:
	case <-d.urged:
	case <-d.Options.Context.Done():
	}
}

// sleep waits for records, or for Close.
func (d *Delivery) sleep() {
	pause := linger
	if d.want-d.slept > BatchRecords {
		pause = shortLinger
	}
	d.slept = d.want
	if d.timer == nil {
		d.timer = time.NewTimer(pause)
	} else {
		d.timer.Reset(pause)
	}
	select {
	case <-d.timer.C:
	case <-d.wakeup:
		d.timer.Stop()
		return
	case <-d.Options.Context.Done():
		d.timer.Stop()
		return
	}
	if d.hasMore() {
		return // without setting idle, which would make a writer wake this goroutine
	}
	d.Options.Idle.Store(true)
	if d.hasMore() { // after setting idle: a record precedes this check, or its writer sees idle
		return // idle stays set, since other goroutines may sleep
	}
	select {
	case <-d.wakeup:
	case <-d.Options.Context.Done():
	}
}

// hasMore reports whether the segment has more records, or there will be
// another segment.
func (d *Delivery) hasMore() bool {
	end, _, final := d.reading.Live.Claimed()
	return d.at != end || final
}
