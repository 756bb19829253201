// SPDX-License-Identifier: Apache-2.0

package file

import "github.com/nib-log/nib/delivery"

// Fork opens the path once more, with the same configuration, as the destination of
// another spool: the place that Mark remembers belongs to the records of one. A spool that
// several processes share (spool.Config.Shared) calls it, and closes the result.
func (s *Sink) Fork() (delivery.Destination, error) {
	other, err := Open(s.path, s.given)
	if err != nil {
		return nil, err
	}
	return other, nil
}
