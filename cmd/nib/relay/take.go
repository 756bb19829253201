// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/sink/spool"
)

// ownSegment is the size of the segment that a start makes. The relay writes nothing into
// it, and the disk may be full.
const ownSegment = 64 << 10

// drain is how long a call of Deliver may go on that is under way when a spool is
// given back.
const drain = time.Second

var (
	errStalled = errors.New("the destination accepts nothing")
	errEnding  = errors.New("the relay ends")
)

// take opens a spool, delivers what is in it, and closes it.
func (r *relay) take(ctx context.Context, dir, name string) error {
	dest, err := r.Open()
	if err != nil {
		return err
	}
	defer dest.Close() // what it has accepted is safe
	s, err := spool.Open(dir, dest, spool.Config{
		Name: name, SegmentSize: ownSegment, Size: 2 * ownSegment, Drain: drain, Sync: spool.SyncNever,
		OnError: func(err error) { r.Tell(dir, "%v", err) },
	})
	if err != nil {
		return err
	}
	r.Spools++
	begin := time.Now()
	err = r.await(ctx, dir, s)
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	st := s.Stats()
	rejected, damaged := dropped(st)
	r.Delivered += st.Delivered
	r.Rejected += rejected
	r.Damaged += damaged
	r.Unfinished += st.Unfinished
	r.Tell(dir, "%s delivered, %s rejected, %s damaged, %s pending in %s", term.Count(st.Delivered), term.Count(rejected),
		term.Count(damaged), term.Count(st.Pending), time.Since(begin).Round(time.Millisecond))
	return err
}

// await waits until everything is settled, the destination has settled nothing for
// too long, or ctx ends.
func (r *relay) await(ctx context.Context, dir string, s *spool.Sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	flushed := make(chan error, 1)
	go func() { flushed <- s.Flush(ctx) }()
	tick := time.NewTicker(min(r.Progress, r.Patience))
	defer tick.Stop()
	moved, told := time.Now(), time.Now()
	before := s.Stats().Pending
	for {
		select {
		case err := <-flushed:
			if err != nil && ctx.Err() != nil {
				return errEnding
			}
			return err
		case <-tick.C:
		}
		st := s.Stats()
		switch now := time.Now(); {
		case st.Pending != before:
			before, moved = st.Pending, now
		case now.Sub(moved) >= r.Patience:
			return fmt.Errorf("%w for %v", errStalled, r.Patience)
		}
		if time.Since(told) >= r.Progress {
			told = time.Now()
			r.Tell(dir, "%s delivered, %s pending", term.Count(st.Delivered), term.Count(st.Pending))
		}
	}
}

func dropped(st spool.Stats) (rejected, damaged uint64) {
	for _, d := range st.Dropped {
		switch d.Reason {
		case spool.Rejected:
			rejected += d.Lines
		case spool.Damaged:
			damaged += d.Lines
		}
	}
	return rejected, damaged
}
