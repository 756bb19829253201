// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"

	"github.com/nib-log/nib/delivery"
)

var errTransactionalFork = errors.New("nib/kafka: processes that share a spool cannot have one TransactionalID: leave it out, or give each process a spool and a TransactionalID of its own")

// Fork makes a destination of the same topic with the same configuration for another
// spool: the producer that Mark remembers belongs to one. A spool that several processes
// share (spool.Config.Shared) calls it, and closes the result. It does not connect.
func (d *Destination) Fork() (delivery.Destination, error) {
	if d.c.TransactionalID != "" {
		return nil, errTransactionalFork
	}
	other, err := New(d.brokers, d.topic, d.c)
	if err != nil {
		return nil, err
	}
	return other, nil
}
