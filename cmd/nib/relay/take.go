// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// drain limits a call of Deliver that is in flight when a spool is released.
const drain = time.Second

// glance is the interval at which to check whether a delivery is done.
const glance = 10 * time.Millisecond

var (
	errStalled = errors.New("the destination accepts nothing")
	errEnding  = errors.New("the relay ends")
	errInUse   = errors.New("another nib relay delivers it")
)

// A holder replaces a destination that the relay does not deliver to. Records
// that this destination has not settled stay in the spool.
type holder struct{}

func (holder) Deliver(ctx context.Context, _ []nib.Record) (delivery.Result, error) {
	<-ctx.Done()
	return delivery.Result{}, context.Cause(ctx)
}

// take opens a spool, delivers its records, and closes it.
func (r *relay) take(ctx context.Context, v *spool.View, names []string) error {
	var all []spool.NamedDestination
	for i, t := range r.Targets {
		dest, err := t.Open(markOf(v, names[i]))
		if err != nil {
			return err
		}
		if c, ok := dest.(io.Closer); ok {
			defer c.Close() // accepted records are safe
		}
		all = append(all, spool.NamedDestination{Name: names[i], To: dest})
	}
	for _, d := range v.Destinations {
		if !slices.Contains(names, d.Name) {
			all = append(all, spool.NamedDestination{Name: d.Name, To: holder{}})
		}
	}
	s, err := spool.Open(v.Dir, all[0].To, spool.Config{
		Name: all[0].Name, Also: all[1:],
		DeliverOnly: true, Drain: drain, Sync: spool.SyncNever, Adopt: r.Adopt,
		OnError: func(err error) { r.Report(v.Dir, "%v", err) },
	})
	if err != nil {
		return err
	}
	r.Spools++
	begin := time.Now()
	err = r.await(ctx, v.Dir, s)
	// Records of a holder may be pending.
	if closeErr := s.Close(); err == nil && !errors.Is(closeErr, spool.ErrPending) {
		err = closeErr
	}
	for i, d := range r.own(s) {
		rejected, damaged := dropped(d)
		r.Delivered += d.Delivered
		r.Rejected += rejected
		r.Damaged += damaged
		r.Unfinished += d.Unfinished
		r.Report(v.Dir, "%s delivered to %s, %s rejected, %s damaged, %s pending in %s",
			term.Count(d.Delivered), r.Targets[i].Text,
			term.Count(rejected), term.Count(damaged), term.Count(d.Pending),
			time.Since(begin).Round(time.Millisecond))
	}
	return err
}

// markOf returns the mark of a destination, nil if there is none.
func markOf(v *spool.View, name string) []byte {
	for _, d := range v.Destinations {
		if d.Name == name {
			return []byte(d.Mark)
		}
	}
	return nil
}

// own returns the counts of the relay's destinations.
func (r *relay) own(s *spool.Sink) []spool.DestinationStats {
	return s.Stats().Destinations[:len(r.Targets)]
}

// await waits until everything is settled, the destinations have settled
// nothing for too long, or ctx ends.
func (r *relay) await(ctx context.Context, dir string, s *spool.Sink) error {
	tick := time.NewTicker(min(glance, r.DeliverTimeout))
	defer tick.Stop()
	moved, reported := time.Now(), time.Now()
	var before uint64
	for first := true; ; first = false {
		var pending, delivered uint64
		for _, d := range r.own(s) {
			pending, delivered = pending+d.Pending, delivered+d.Delivered
		}
		switch now := time.Now(); {
		case pending == 0:
			return nil
		case ctx.Err() != nil:
			return errEnding
		case first || pending != before:
			before, moved = pending, now
		case now.Sub(moved) >= r.DeliverTimeout:
			return fmt.Errorf("%w for %v", errStalled, r.DeliverTimeout)
		}
		if time.Since(reported) >= r.Progress {
			reported = time.Now()
			r.Report(dir, "%s delivered, %s pending", term.Count(delivered), term.Count(pending))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func dropped(st spool.DestinationStats) (rejected, damaged uint64) {
	for _, d := range st.Dropped {
		switch d.Reason {
		case delivery.ReasonRejected:
			rejected += d.Lines
		case delivery.ReasonDamaged:
			damaged += d.Lines
		}
	}
	return rejected, damaged
}
