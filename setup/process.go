// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
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
	s.reopen = c.Reopen.or(l.hasFiles())
	l.takes = s.ends || s.reopen || c.Crash == SwitchOn
	if !l.takes {
		return nil
	}
	if !taken.CompareAndSwap(false, true) {
		return errOpen
	}
	if c.Crash == SwitchOn {
		m, err := startMonitor(c)
		if err != nil {
			taken.Store(false)
			return err
		}
		l.monitor = m
	}
	s.start(c.Signals.or(l.holdsBack()))
	return nil
}

// releaseProcess undoes takeProcess.
func (l *Log) releaseProcess(until time.Time) {
	l.signals.stop()
	l.released.Do(func() {
		if l.monitor != nil {
			l.monitor.stop(until)
		}
		if l.takes {
			taken.Store(false)
		}
	})
}

func (l *Log) hasFiles() bool {
	for _, o := range l.outputs {
		if o.reopen != nil {
			return true
		}
	}
	return false
}

// holdsBack reports whether lines may be lost without a flush.
func (l *Log) holdsBack() bool {
	for _, o := range l.outputs {
		if o.holdsBack {
			return true
		}
	}
	return false
}
