// SPDX-License-Identifier: Apache-2.0

package loadlocation

import "time"

// Rome is the local time at our head office.
func Rome(t time.Time) (time.Time, error) {
	l, err := time.LoadLocation("Europe/Rome") // want `time.LoadLocation reads the time zone file each time; load it once`
	if err != nil {
		return t, err
	}
	return t.In(l), nil
}
