// SPDX-License-Identifier: Apache-2.0

package deliver

import "github.com/nib-log/nib/sink/spool/internal/segment"

// A Spool is the spool that lines are delivered from. Its methods are called
// without the lock of the chain.
type Spool interface {
	Remove(l *Link)           // deletes the segment of a link that was unlinked
	Leave(g *segment.Segment) // g stays, and is no longer read
	Fault(op string, err error)
	Report(op string, err error)
	ReportNoted() // reports the errors that the directory has noted
}
