// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// slack is the multiple of its processor time that a process on a shared
// machine may take, where the processor time is not known.
const slack = 5

// ErrHang means that a process was killed because it made no progress.
var ErrHang = errors.New("it hangs")

// slow is the multiple of the budget that the first iteration of a leaf may
// take.
const slow = 20

// tooSlow is the failure of a leaf whose first iteration takes more.
type tooSlow struct{ limit time.Duration }

func (o *Options) tooSlow() *tooSlow { return &tooSlow{slow * o.Budget} }

func (e *tooSlow) Error() string {
	return fmt.Sprintf(
		"too slow to measure: the first iteration takes more than %g s of processor time, with "+
			"what it sets up", e.limit.Seconds())
}

// give returns the processor time after which a leaf is given up.
func (o *Options) give() time.Duration { return cmp.Or(o.Hang, hang) }

// watching sets when to kill a process.
type watching struct {
	out     string        // the file that it writes its records to
	give    time.Duration // limit without progress
	tooSlow *tooSlow      // first iterations; nil for any
}

// watch calls stop when the process makes no progress: while the file has not
// grown, it used more processor time than give, or for as long none at all, or
// little for slack times as long. Other processes on the machine do not affect
// runs that do not wait.
//
// A first iteration that ends decides by itself whether it was too slow. Here
// it gets twice the time: its usage since the record is not known exactly.
func (w watching) watch(pid int, ended <-chan struct{}, stop func(error)) {
	every := min(w.give/4, time.Second)
	if w.tooSlow != nil {
		every = min(every, w.tooSlow.limit/2)
	}
	tick := time.NewTicker(max(every, time.Millisecond))
	defer tick.Stop()
	var size int64
	var used, from usage // usage at the last tick, and when the file grew
	first := false
	moved, grew := time.Now(), time.Now()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		now, known := processorTime(pid)
		limit := w.give
		if !known {
			limit *= slack
		}
		if now != used {
			used, moved = now, time.Now()
		}
		if info, err := os.Stat(w.out); err == nil && info.Size() != size {
			size, from, moved, grew = info.Size(), used, time.Now(), time.Now()
			first = w.tooSlow != nil && begins(w.out)
		}
		var why error
		switch spent := used.all - from.all; {
		case first && used.own-from.own > 2*w.tooSlow.limit:
			why = w.tooSlow
		case spent > w.give:
			why = fmt.Errorf("%w: it has used %s of processor time", ErrHang, w.give)
		case time.Since(moved) > limit:
			why = fmt.Errorf("%w: it has waited for %s", ErrHang, limit)
		case time.Since(grew) > slack*w.give && spent < w.give/2:
			why = fmt.Errorf("%w: it has used %s of processor time in %s", ErrHang, spent,
				slack*w.give)
		default:
			continue
		}
		stop(why)
		return
	}
}

// begins reports whether a first iteration has begun and not ended.
func begins(out string) bool {
	records, err := decode(out)
	return err == nil && len(records) > 0 && records[len(records)-1].Start != ""
}

// usage is processor time.
// Processor time of the process alone, and with the programs that it has run.
type usage struct{ own, all time.Duration }

// processorTime returns the processor time of a process, on systems with /proc.
func processorTime(pid int) (usage, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, false
	}
	// The second field is a name in parentheses, which may hold anything.
	f := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	if len(f) < 15 {
		return usage{}, false
	}
	var u usage
	for i, ticks := range f[11:15] { // user and system, and of programs
		n, err := strconv.Atoi(ticks)
		if err != nil {
			return usage{}, false
		}
		u.all += time.Duration(n) * 10 * time.Millisecond
		if i == 1 {
			u.own = u.all
		}
	}
	return u, true
}
