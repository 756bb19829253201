// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"math"
	"sync/atomic"
	"time"
)

// checkEvery is the interval at which the name is compared with the file, and
// the clock with the schedule, when there are lines to write. It is far below
// the second during which lines may go to a removed file.
const checkEvery = int64(100 * time.Millisecond)

// A nameCheck determines when the name, the clock and the free space are
// checked next. Reading the clock takes a twentieth of the time of a line. So
// while lines come fast, a timer ends the interval between two checks, and no
// line reads the clock before.
type nameCheck struct {
	at     int64 // monotonic time of the next check, or noCheck
	notDue atomic.Bool
	timer  *time.Timer // nil in tests, which have their own clock
	lines  int         // lines since the last check
}

// noCheck is the time of the next check while a batch is written: its lines go
// to one file, even if the file is renamed in the meantime.
const noCheck = math.MaxInt64

// fastLines is the number of lines between two checks from which a timer costs
// less than reading the clock for each line.
const fastLines = 1000

// begin sets the timer if there were many lines since the last check.
func (c *nameCheck) begin(now int64) {
	if c.timer != nil && c.lines >= fastLines {
		c.notDue.Store(true)
		c.timer.Reset(time.Duration(c.at - now))
	}
	c.lines = 0
}

// checkNow lets the next line check the name and the schedule.
func (w *writer) checkNow() {
	w.check.at = w.c.clock.mono()
	w.check.notDue.Store(false)
}

// checkAll checks the file against its name, the clock against the schedule and
// the free space against MinFree.
func (w *writer) checkAll(now int64) error {
	w.check.at = now + checkEvery
	info, err := w.fs.Lstat(w.path)
	switch {
	case err == nil && info.ID == w.id && w.file != nil:
		w.resize(info.Size)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if err = w.reopen(); err == nil {
			w.stats.Followed++
			w.check.at = now + checkEvery
		}
	}
	if err != nil {
		if w.orphaned() {
			return w.fail("open", err)
		}
		w.errors.report("open", err) // the open file still has a name, so lines are not lost
	}
	if w.c.MinFree > 0 && w.file != nil {
		if free, err := w.file.Free(); err == nil && free < w.c.MinFree {
			return w.fail("write", errLow)
		}
	}
	w.checkSchedule(now)
	w.retention.retry(now)
	w.check.begin(now)
	return nil
}

// reopen opens the file that has the name now. On an error nothing changes.
func (w *writer) reopen() error {
	info, err := w.liveFile.reopen()
	if err != nil {
		return err
	}
	w.rotation.begin(info.ModTime)
	w.checkNow() // computes the time until due
	w.retention.start()
	return nil
}

// openFirst is reopen for a new sink, which has no file to continue with. The
// file is locked exclusively for a moment while another process completes a
// line that a killed one has begun; see completeRecord.
func (w *writer) openFirst() (err error) {
	for range lockTries {
		if err = w.reopen(); !errors.Is(err, errInUse) {
			break
		}
		time.Sleep(rotateStep)
	}
	return err
}

// lockTries is the number of attempts of openFirst, rotateStep apart: a tenth
// of a second.
const lockTries = 100

// resize records the current size of the file. It has shrunk if the file was
// truncated, as by copytruncate; lines still go to its end.
func (w *writer) resize(size int64) {
	if size < w.size {
		w.stats.Truncations++
		w.torn, w.unseen = false, true
	}
	w.size = size
}
