// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

var (
	errClosed   = fmt.Errorf("nib/spool: %w", delivery.ErrClosed)
	errFull     = fmt.Errorf("nib/spool: %w", delivery.ErrFull)
	errTooLarge = fmt.Errorf("nib/spool: %w for a segment", delivery.ErrTooLarge)
)

// Open and the methods of a Sink wrap these, [delivery.ErrClosed],
// [delivery.ErrFull], [delivery.ErrTooLarge] and the errors of the system.
var (
	ErrInUse   = store.ErrInUse
	ErrPending = errors.New("nib/spool: not all lines are delivered") // returned by Close
)

// A Sink is an open spool. It is created by [Open] and safe for concurrent use.
type Sink struct {
	traits
	c       Config
	path    string // passed to Open
	chain   chain
	maker   maker
	waits   bool // a call at LevelError or above waits until its line is synced
	running int  // delivering goroutines; the lock of the chain protects it
	kept    keptLine

	ctx   context.Context
	stop  context.CancelFunc
	done  chan struct{} // the delivering goroutines have ended
	ended chan struct{} // Close has ended
}

type traits = contract.TraitSet

var _ nib.Sink = (*Sink)(nil)

// Open opens the spool in a directory, creating it if necessary, and delivers
// its lines and those logged from now on to dest and to the destinations in
// Config.Also, in order. With dir "" lines are kept in memory and are lost when
// the process ends. If dest is nil and there is no other destination, lines are
// kept for another process to deliver.
//
// Damaged files are not an error: they are quarantined and counted. Open fails
// if another process has the spool open ([ErrInUse]), if other users may write
// to the directory, if a file has a newer format version, and if the system
// refuses an operation that it needs (no space, permissions, locks or
// descriptors). If it fails it has not changed any segment, copy or cursor, and
// a later attempt may succeed. Open starts goroutines, which Close stops.
func Open(dir string, dest delivery.Destination, c Config) (*Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if dir == "" && dest == nil && len(c.Also) == 0 {
		return nil, errors.New("nib/spool: neither a directory nor a destination")
	}
	if dir == "" && c.DeliverOnly {
		return nil, errors.New(
			"nib/spool: DeliverOnly without a directory: a spool in memory has nothing to deliver")
	}
	if dir == "" && c.Shared {
		return nil, errors.New(
			"nib/spool: Shared without a directory: a spool in memory cannot be shared")
	}
	if dir != "" { // files are opened at any time, and the program may change its working directory
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("nib/spool: open %s: %w", dir, err)
		}
		dir = path
	}
	s := newSink(c.withDefaults(dir))
	s.path, s.chain.noDestination = dir, dest == nil && len(c.Also) == 0
	err := s.addDestinations(dest)
	switch {
	case err != nil:
	case c.Shared:
		err = openShared(s)
	default:
		err = s.open()
	}
	if err != nil {
		return nil, fmt.Errorf("nib/spool: open %s: %w", dir, err)
	}
	return s, nil
}

// addDestinations makes the deliveries.
func (s *Sink) addDestinations(dest delivery.Destination) error {
	all := s.c.Also
	if dest != nil || s.chain.noDestination {
		all = slices.Insert(slices.Clone(all), 0, NamedDestination{s.c.Name, dest})
	}
	for _, x := range all {
		if _, err := s.newDelivery(x.Name, x.To); err != nil {
			return err
		}
	}
	return nil
}

// open opens the spool in a directory of its own, or in memory.
func (s *Sink) open() error {
	first := segment.Start{First: 1}
	if s.path == "" {
		s.chain.stream = store.NewID()
	} else {
		err := store.RefuseHome(s.c.fs, s.path)
		if err == nil {
			first, err = s.recover(s.path)
		}
		if err != nil {
			return err
		}
	}
	if err := s.begin(first); err != nil {
		return err
	}
	s.start()
	return nil
}

// newSink returns a Sink that is not started.
func newSink(c Config) *Sink {
	s := &Sink{c: c, done: make(chan struct{}), ended: make(chan struct{})}
	s.chain.c, s.chain.more = &s.c, make(chan struct{}, 1)
	s.chain.limit, s.chain.peers = c.Size, alone(c.Size)
	s.chain.notices, s.chain.reports = loss.NewNotices(c.Layout), &reporter{onError: c.OnError}
	s.maker = maker{
		chain: &s.chain, spare: make(chan []byte, 1),
		made: make(chan struct{}), safe: make(chan struct{}),
	}
	// A destination may log; its lines are delivered like others.
	s.traits = contract.TraitsFor(s, contract.NeverLogs)
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// begin activates the first segment.
func (s *Sink) begin(first segment.Start) error {
	s.chain.opened = first.First
	if err := s.maker.firstSegment(first); err != nil {
		s.release()
		return err
	}
	if ch := &s.chain; ch.dir != nil {
		if err := ch.dir.QuarantineDamaged(); err != nil {
			ch.reports.Fault("quarantine a file", err) // the next start repeats it
		}
		ch.stats.Bad = ch.dir.Bad
	}
	return nil
}

// start starts the goroutines.
func (s *Sink) start() {
	if s.chain.copier != nil {
		s.chain.copier.synced.Store(s.chain.opened)
		go s.chain.copier.run()
	}
	s.chain.more <- struct{}{}
	go s.maker.makeSegments()
	s.running = len(s.chain.Deliveries)
	if !s.c.DeliverOnly {
		s.chain.startDestinations()
	}
	for _, d := range s.chain.Deliveries {
		d.Begin(s.chain.opened, s.chain.Links[0])
	}
	for _, d := range s.chain.Deliveries {
		go d.Run(s.deliveryEnded)
	}
}

// WriteRecord copies r into the spool. If the spool has a directory, the line
// survives the death of the process once WriteRecord has returned nil. It waits
// only when segments fill up faster than they are created, or if a [FullRule]
// requires it. The error is [delivery.ErrFull], [delivery.ErrTooLarge],
// [delivery.ErrClosed], or the reason why no segment could be created or
// written to; then the line is dropped and counted. WriteRecord does not retain
// r. It does not allocate, except for a line that starts a segment.
func (s *Sink) WriteRecord(r *nib.Record) error {
	message := segment.MessageOffset(r)
	size := segment.RecordSize(r, message)
	for tries := 1; ; {
		g := s.chain.active.Load()
		if at, seq, ok := g.Reserve(size); ok {
			if ok, foreign := g.Write(at, size, seq, r, message); !ok {
				if foreign != nil {
					text := usercode.PanicText(foreign)
					s.retire(g, at, size, seq, errors.New("the line cannot be read: "+text))
					panic(foreign)
				}
				s.retire(g, at, size, seq, nil)
				if tries++; tries > writeTries {
					return s.refuse(r, g)
				}
				continue
			}
			if s.chain.idle.Load() {
				s.chain.wake()
			}
			if s.chain.resting.Load() {
				s.chain.copier.wake()
			}
			if s.waits && r.Level >= nib.LevelError {
				s.waitSynced(seq)
			}
			return nil
		}
		if err := s.roll(g, size, r); err != nil {
			return err
		}
	}
}

// Flush waits until all destinations have settled every line logged before.
// Without a destination it returns at once. If an attempt has failed, it is
// retried at once. It returns the error of ctx, or delivery.ErrClosed
// after Close if lines are pending.
func (s *Sink) Flush(ctx context.Context) error {
	s.chain.Lock()
	defer s.chain.Unlock()
	_, target, _ := s.chain.active.Load().Claimed()
	for !s.chain.SettledAll(target) {
		if s.chain.noDestination {
			return nil
		}
		changed := s.chain.Change()
		s.chain.Unlock()
		s.chain.urge()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = fmt.Errorf("nib/spool: flush: %w", context.Cause(ctx))
		case <-s.done:
			err = errClosed
		}
		s.chain.Lock()
		if err != nil && !s.chain.SettledAll(target) {
			return err
		}
	}
	return nil
}

// Close stops accepting lines, waits up to Config.Drain until the destinations
// have accepted the pending ones, and closes the files. If lines remain, the
// error wraps [ErrPending] and contains their number: in a directory they stay
// for the next Open, in memory they are dropped. Close does not wait for a call
// of Deliver that ignores its context; the directory stays locked until that
// call returns. Close waits up to a second for [Config.OnError] to receive the
// errors that were not reported yet. Closing again waits for the first Close,
// and returns what remains then.
func (s *Sink) Close() error {
	if s.refuseLines() {
		s.shutDown()
		s.chain.reports.await(s.c.hang)
		close(s.ended)
	}
	<-s.ended
	return s.pending()
}

// refuseLines ends the acceptance of lines. It returns false if it was called
// before.
func (s *Sink) refuseLines() bool {
	s.chain.Lock()
	defer s.chain.Unlock()
	if s.chain.Closed {
		return false
	}
	s.chain.Closed = true
	s.chain.active.Load().Seal()
	s.chain.Broadcast()
	return true
}

// shutDown waits for the destinations and ends the goroutines.
func (s *Sink) shutDown() {
	close(s.chain.more)
	peersDone := s.chain.peers.close()
	s.chain.urge()

	drain := time.NewTimer(s.c.Drain)
	select {
	case <-s.done:
	case <-drain.C:
		s.stop()
		drain.Reset(s.c.hang)
		select {
		case <-s.done:
		case <-drain.C:
		}
	}
	s.stop()
	drain.Reset(3 * s.c.hang) // time for the peers, their reports and their destinations
	select {
	case <-peersDone:
	case <-drain.C:
	}
}

// hangs is the default of Config.hang.
const hangs = time.Second
