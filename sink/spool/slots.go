// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// maxRaces is the number of times that another process may lock a missing slot
// before this one does. It is far above the number of processes that start at
// the same moment.
const maxRaces = 200

var (
	errNoLocks = errors.New("Config.Shared needs locks, which are not reliable on this file system: use a local file system, or a directory for each process")
	errCrowded = fmt.Errorf("all slots are in use: %w", ErrInUse)
)

// takeSlot recovers the first slot that no process has locked, and makes one if
// there is none. If an existing slot cannot be opened for another reason, it is
// delivered later; if a new one cannot be, takeSlot returns the error.
func (s *Sink) takeSlot(h *store.Home) (first segment.Start, err error) {
	switch err := h.Check(); {
	case err != nil:
		return segment.Start{}, err
	case s.c.volume.Remote:
		return segment.Start{}, errNoLocks
	}
	var left []error
	defer func() {
		for _, err := range left {
			s.fault("take a slot", err)
		}
	}()
	for n, races := 1, 0; n <= store.MaxSlots && races < maxRaces; n++ {
		path, missing := h.Choose(n)
		if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			return segment.Start{}, missing
		}
		if first, err = s.recover(path); err != nil {
			s.forget()
		}
		switch passed := errors.Is(err, ErrInUse) || errors.Is(err, store.ErrReplaced) || errors.Is(err, fs.ErrNotExist); {
		case err == nil:
			s.madeSlot = missing != nil
			s.others, err = h.BytesOfOthers()
			if err != nil {
				s.release()
			}
			return first, err
		case errors.Is(err, errors.ErrUnsupported):
			return segment.Start{}, errNoLocks
		case missing != nil && !passed:
			return segment.Start{}, err
		case !passed:
			left = append(left, fmt.Errorf("%s: %w", path, err))
		case missing != nil:
			races++
		}
	}
	return segment.Start{}, errCrowded
}

// forget undoes the effects of a failed recover.
func (s *Sink) forget() {
	s.dir, s.copier, s.stats, s.inherited, s.carried = nil, nil, Stats{}, segment.Tally{}, segment.Tally{}
	for _, d := range s.deliveries {
		d.CloseCursor()
	}
}

// countOthers returns the size of the segments of other processes.
func (s *Sink) countOthers() (int64, error) {
	if s.home == nil {
		return 0, nil
	}
	return s.home.BytesOfOthers()
}

// fitsWith reports whether all segments, including those of other processes,
// fit into the size of the spool.
func (s *Sink) fitsWith(others int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes+others <= s.c.Size
}

// isCrowded reports whether another segment would fit without those of other
// processes.
func (s *Sink) isCrowded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.home != nil && s.next == nil && !s.hasRoom() && s.bytes+s.c.SegmentSize <= s.c.Size
}
