// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"

	"github.com/nib-log/nib/delivery"
)

var errTransactionalFork = errors.New(
	"nib/kafka: processes that share a spool cannot use one TransactionalID: omit it, or give " +
		"each process its own spool and TransactionalID")

// Fork returns a destination for another spool, with the same topic and
// configuration, since the producer in Mark belongs to a single spool. A spool
// shared by several processes (spool.Config.Shared) calls Fork, and closes the
// result. It does not connect.
func (d *Destination) Fork() (delivery.Destination, error) {
	if d.c.TransactionalID != "" {
		return nil, errTransactionalFork
	}
	return New(d.cluster.brokers, d.cluster.topic, d.c)
}
