// SPDX-License-Identifier: Apache-2.0

// Package clock returns the wall time for log lines at a lower cost than
// [time.Now], which reads two clocks of the system on each call.
//
// The wall clock and the monotonic clock run at the same rate; they diverge
// only when the wall clock is set. So it is enough to read the monotonic one
// per line and to measure the difference of the two now and then. The first
// call more than 10 ms after the last measurement does that: there is no
// goroutine, and no work without log lines.
//
// The time is as exact as two bracketing calls of time.Now, plus or minus 50
// µs, except in the 20 ms after the wall clock was set. Like time.Now's wall
// time it may go back, by less than those 50 µs when the wall clock was not
// set.
package clock
