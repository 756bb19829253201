// SPDX-License-Identifier: Apache-2.0

package syslog

import "sync/atomic"

// Stats counts what became of the records and connections.
type Stats struct {
	Accepted  uint64 // records: acknowledged by RELP, else taken by the socket
	Bytes     uint64 // of their messages, without framing
	Shortened uint64 // of these records, those whose line was cut
	Rejected  uint64 // records that were refused for ever

	// Doubtful are records that had been sent when a connection failed and were not
	// settled. They are delivered again, so as many may have come twice.
	Doubtful uint64

	Connects  uint64 // connections that were made
	Refused   uint64 // attempts to make one that failed
	Failures  uint64 // connections that were lost or given up
	Connected bool   // there is a connection, as far as known
}

// counters is what Stats reads.
type counters struct {
	accepted, bytes, shortened, rejected, doubtful atomic.Uint64
	connects, refused, failures                    atomic.Uint64
}

// Stats returns the counts so far. It may be called at any time. 0 allocs.
func (d *Destination) Stats() Stats {
	c := &d.counters
	l := d.link.Load()
	return Stats{
		Accepted: c.accepted.Load(), Bytes: c.bytes.Load(), Shortened: c.shortened.Load(), Rejected: c.rejected.Load(),
		Doubtful: c.doubtful.Load(),
		Connects: c.connects.Load(), Refused: c.refused.Load(), Failures: c.failures.Load(),
		Connected: l != nil && l.err() == nil,
	}
}
