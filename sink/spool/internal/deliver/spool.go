// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"sync"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A Spool is the spool that lines are delivered from. Its lock protects the
// links and the progress of all deliveries; methods called with the lock held
// must not take it.
type Spool interface {
	sync.Locker

	// Called with the lock held:

	From(l *Link) []*Link // the segments from l on, oldest first; nil if l is gone
	Unlink(l *Link)       // l is no longer needed
	NextNumber() uint64   // number of the next record that is written
	Broadcast()           // wakes the calls that wait for progress
	CountQuarantined()    // a file is going to be quarantined

	// Called without it:

	IsClosed() bool           // no more records are written
	Remove(l *Link)           // deletes the segment of a link that was unlinked
	Leave(g *segment.Segment) // g stays, and is no longer read
	Fault(op string, err error)
	Report(op string, err error)
	ReportNoted() // reports the errors that the directory has noted
}
