// SPDX-License-Identifier: Apache-2.0

package file

import "github.com/nib-log/nib/delivery"

// Fork opens the path again, with the same configuration, as the destination of
// another spool, since the position in Mark is for the records of a single
// spool. A spool shared by several processes (spool.Config.Shared) calls Fork,
// and closes the result.
func (s *Sink) Fork() (delivery.Destination, error) {
	other, err := Open(s.path, s.given)
	if err != nil {
		return nil, err
	}
	return other, nil
}
