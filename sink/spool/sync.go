// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"

	"github.com/nib-log/nib/sink/spool/internal/store"
)

var errUnsynced = errors.New("lines cannot be synced to disk")

// await waits until record seq is synced or settled. It returns an error if the
// sync fails, ctx ends, or the copier has ended.
func (s *Sink) await(ctx context.Context, seq uint64) error {
	c := s.chain.copier
	for {
		s.chain.Lock()
		changed, settled := s.chain.Change(), s.chain.Lowest()
		s.chain.Unlock()
		switch {
		case c.synced.Load() > seq || settled > seq:
			return nil
		case c.failing.Load():
			return errUnsynced
		}
		store.Signal(c.urged)
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.done:
			if c.synced.Load() > seq {
				return nil
			}
			return errClosed
		}
	}
}

// Sync waits until every line logged before would survive a power failure, or
// its destination has settled it. It returns the error of ctx, or of a sync
// that fails, which is retried, and errors.ErrUnsupported if [Config.Sync]
// is SyncNever or the spool is in memory. Sync does not cover the lines of
// other processes: the system has had them since those processes ended.
func (s *Sink) Sync(ctx context.Context) error {
	if s.chain.copier == nil {
		return errors.ErrUnsupported
	}
	_, next, _ := s.chain.active.Load().Claimed()
	if next == s.chain.opened {
		return nil
	}
	if err := s.await(ctx, next-1); err != nil {
		return fmt.Errorf("nib/spool: sync: %w", err)
	}
	return nil
}

// waitSynced blocks a call until its line is safe. The line is in the spool
// either way: a timeout is counted, but is not an error.
func (s *Sink) waitSynced(seq uint64) {
	ctx, cancel := context.WithTimeout(s.ctx, s.c.SyncWait)
	defer cancel()
	if s.await(ctx, seq) != nil {
		s.chain.Lock()
		s.chain.stats.Unsynced++
		s.chain.Unlock()
	}
}
