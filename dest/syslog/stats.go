// SPDX-License-Identifier: Apache-2.0

package syslog

import "sync/atomic"

// Stats counts the records and connections of a Destination.
type Stats struct {
	Accepted  uint64 // records acknowledged by RELP, or accepted by the socket of other networks
	Bytes     uint64 // size of their messages, without framing
	Shortened uint64 // of Accepted: records whose line was truncated
	Rejected  uint64 // rejected records

	// Doubtful counts records that had been sent but not settled when a
	// connection failed. They are delivered again, so as many may be
	// duplicated.
	Doubtful uint64

	Connects  uint64 // successful connections
	Refused   uint64 // failed connection attempts
	Failures  uint64 // connections that failed or were closed because of an error
	Connected bool   // whether there is a connection that is not known to have failed
}

// counters holds the counts for Stats.
type counters struct {
	accepted, bytes, shortened, rejected, doubtful atomic.Uint64
	connects, refused, failures                    atomic.Uint64
}

// Stats returns the current counts. It may be called at any time. It does not
// allocate.
func (d *Destination) Stats() Stats {
	c := &d.counters
	l := d.link.Load()
	return Stats{
		Accepted: c.accepted.Load(), Bytes: c.bytes.Load(), Shortened: c.shortened.Load(),
		Rejected: c.rejected.Load(),
		Doubtful: c.doubtful.Load(),
		Connects: c.connects.Load(), Refused: c.refused.Load(), Failures: c.failures.Load(),
		Connected: l != nil && l.err() == nil,
	}
}
