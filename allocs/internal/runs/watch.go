// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// slack is how much longer than its processor time a process may take that
// shares the machine with others, where its processor time is not known.
const slack = 5

var (
	// ErrHang is matched when a process was ended because it made no progress.
	ErrHang = errors.New("it hangs")

	// errTimeout is matched when --timeout does not suffice.
	errTimeout = errors.New("than --timeout allows")

	// errProcessorTime is matched when a process was ended for what it has used:
	// another run would use as much.
	errProcessorTime = errors.New("processor time")
)

// allowance is what --timeout leaves for the runs of a package. They are judged
// by their processor time, which does not depend on what else runs; by the clock
// end only those that wait.
type allowance struct {
	cpu   time.Duration
	until time.Time
}

func (o *Options) allowance() *allowance {
	return &allowance{o.Timeout, time.Now().Add(slack * o.Timeout)}
}

// give is the processor time at which a leaf is given up.
func (o *Options) give() time.Duration {
	if o.Hang == 0 {
		return hang
	}
	return o.Hang
}

// err is the error when nothing is left.
func (a *allowance) err() error {
	switch {
	case a.cpu <= 0:
		return fmt.Errorf("the runs of the package use more %w %w", errProcessorTime, errTimeout)
	case time.Now().After(a.until):
		return fmt.Errorf("the runs of the package take more than %d times as long as --timeout allows", slack)
	}
	return nil
}

// watch calls stop when the process has used what is left, or makes no progress:
// while the file has not grown, it used more processor time than give, or for as
// long none at all, or little for slack times as long. What else runs on the
// machine makes no difference to those that do not wait.
func watch(pid int, name string, give time.Duration, left allowance, ended <-chan struct{}, stop func(error)) {
	tick := time.NewTicker(max(min(give/4, left.cpu/4, time.Second), time.Millisecond))
	defer tick.Stop()
	var size int64
	var used, from time.Duration // at the last tick, and when the file grew
	moved, grew := time.Now(), time.Now()
	whole := left.cpu
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		now, known := processorTime(pid)
		limit := give
		if !known {
			limit *= slack
		}
		if now != used {
			used, moved = now, time.Now()
		}
		if info, err := os.Stat(name); err == nil && info.Size() != size {
			size, from, moved, grew = info.Size(), used, time.Now(), time.Now()
		}
		left.cpu = whole - used
		why := left.err()
		switch {
		case why != nil:
		case used-from > give:
			why = fmt.Errorf("%w: it has used %s of %w", ErrHang, give, errProcessorTime)
		case time.Since(moved) > limit:
			why = fmt.Errorf("%w: it has waited for %s", ErrHang, limit)
		case time.Since(grew) > slack*give && used-from < give/2:
			why = fmt.Errorf("%w: it has used %s of processor time in %s", ErrHang, used-from, slack*give)
		default:
			continue
		}
		stop(why)
		return
	}
}

// processorTime returns what a process has used, with the programs that it has
// run, on systems that have /proc.
func processorTime(pid int) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The second field is a name in parentheses, which may hold anything.
	f := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	if len(f) < 15 {
		return 0, false
	}
	all := 0
	for _, ticks := range f[11:15] { // user and system, and those of programs
		n, err := strconv.Atoi(ticks)
		if err != nil {
			return 0, false
		}
		all += n
	}
	return time.Duration(all) * 10 * time.Millisecond, true
}
