// SPDX-License-Identifier: Apache-2.0

// Package delivery is the contract between a spool and the destinations that
// it delivers records to: a file, a syslog server, a Kafka topic, or one of
// your own.
//
// A destination has one method:
//
//	type printer struct{ w io.Writer }
//
//	func (p printer) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
//		for i, r := range batch {
//			if _, err := p.w.Write(r.Line); err != nil {
//				return delivery.Result{Accepted: i}, err
//			}
//		}
//		return delivery.Result{Accepted: len(batch)}, nil
//	}
//
// Everything else is an optional ability, declared here as an interface:
// [Flusher], io.Closer, [Pinger], [Resumer], [MarkSyncer], [Batcher],
// [Overlapper], [Starter] and [Forker]. The spool checks for them once, when it
// is opened.
// [github.com/nib-log/nib/nibtest.TestDestination] checks an implementation
// against this contract.
package delivery

import (
	"context"

	"github.com/nib-log/nib"
)

// A Destination accepts batches of records from a spool and acknowledges them.
//
// Calls of Deliver do not overlap. All records of a call have the same Spool, a
// random number of the process that has accepted them; the records of earlier
// processes come first, and the Seq of a Spool ascends. The records belong to
// the destination for the duration of the call; it must not change their bytes
// or keep them.
type Destination interface {
	// Deliver writes batch in order. Result reports how many leading records
	// are settled: durably accepted, or rejected permanently. The spool
	// delivers the remaining records again, after a pause if err is not nil.
	// Deliver returns soon after ctx is done.
	Deliver(ctx context.Context, batch []nib.Record) (Result, error)
}

// A Result reports which records of a batch must not be delivered again.
type Result struct {
	Accepted int // number of leading records that are settled
	// Of the settled records: those that were rejected permanently, in any
	// order.
	Rejected []Rejection
}

// A Rejection identifies a record that a destination will never accept.
type Rejection struct {
	Index  int // within the batch
	Reason error
}
