// SPDX-License-Identifier: Apache-2.0

package delivery

import "github.com/nib-log/nib"

// A Reason is the reason why a line was dropped, as used in counters, notices
// and metrics.
type Reason string

// The reasons.
const (
	// The sink or spool was closed: ErrClosed; or a spool in memory was closed
	// with the line in it.
	ReasonClosed   Reason = "closed"
	ReasonTooLarge Reason = "large"    // the line is too long: ErrTooLarge
	ReasonFull     Reason = "full"     // no room in the spool, on the disk or in the quota: ErrFull
	ReasonOldest   Reason = "oldest"   // the line made room for another one
	ReasonStalled  Reason = "stalled"  // the reader did not read in time: ErrStalled
	ReasonGone     Reason = "gone"     // no reader
	ReasonRejected Reason = "rejected" // the destination will never accept the line
	// The file no longer contains the written bytes; counted as LevelInfo.
	ReasonDamaged Reason = "damaged"
	ReasonFailed  Reason = "failed" // the system returned an error
)

// A Drop is the number of lines of one level that were dropped for one reason.
type Drop struct {
	Reason Reason
	// A named level: others count as the next lower one, and below LevelTrace
	// as that.
	Level nib.Level
	Lines uint64
}
