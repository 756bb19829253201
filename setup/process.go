// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// taken is set while a Log handles the end of the process.
var taken atomic.Bool

// takeProcess begins to handle signals and crashes, as set in c. The outputs
// are open.
func (l *Log) takeProcess(c *Config) error {
	s := &l.signals
	s.log = l
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.ends = c.Signals != SwitchOff
	s.reopen = c.Reopen.or(slices.ContainsFunc(l.outputs, isFile))
	l.takes = s.ends || s.reopen || c.Crash == SwitchOn
	if !l.takes {
		return nil
	}
	if !taken.CompareAndSwap(false, true) {
		return errOpen
	}
	if c.Crash == SwitchOn {
		var err error
		if l.monitor, err = startMonitor(c); err != nil {
			taken.Store(false)
			return fmt.Errorf("nib/setup: crash monitor: %w", err)
		}
	}
	s.start(c.Signals.or(slices.ContainsFunc(l.outputs, holdsBack)))
	return nil
}

// releaseProcess undoes takeProcess.
func (l *Log) releaseProcess(until time.Time) {
	l.signals.stop()
	l.released.Do(func() {
		if l.monitor != nil {
			stopMonitor(l.monitor, until)
		}
		if l.takes {
			taken.Store(false)
		}
	})
}

func isFile(o *output) bool { return o.reopen != nil }

// holdsBack reports whether lines may be lost without a flush.
func holdsBack(o *output) bool { return o.holdsBack }
