// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "time"

// rfc3339Nano has all digits of the fraction that are not trailing zeros.
var rfc3339Nano = CompileTime(time.RFC3339Nano)

// AppendRFC3339 appends t as time.Time.MarshalJSON does: quoted, in its own
// zone, with as many digits of the fraction as it takes. It returns false and
// dst as it was if the year has not four digits or the zone is a day or more away
// from UTC; MarshalJSON has an error for these.
func AppendRFC3339(dst []byte, t time.Time) ([]byte, bool) {
	offset := 0
	if t.Location() != time.UTC {
		_, offset = t.Zone()
		if offset <= -24*3600 || offset >= 24*3600 {
			return dst, false
		}
	}
	var c SecondCache
	if !c.fill(t.Unix(), offset) {
		return dst, false
	}
	return c.append(dst, rfc3339Nano, t.Nanosecond()), true
}
