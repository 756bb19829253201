// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"math/big"
	"time"

	"github.com/nib-log/nib"
)

// addUnix adds the whole number of units since 1970, exact for every time.
func addUnix(e *nib.Event, key string, t time.Time, units int64) {
	const far = 1 << 33 // seconds whose nanoseconds fit an int64
	sec, rest := t.Unix(), int64(t.Nanosecond())/(1e9/units)
	if -far < sec && sec < far {
		e.Int64(key, sec*units+rest)
		return
	}
	n := big.NewInt(sec)
	n.Mul(n, big.NewInt(units)).Add(n, big.NewInt(rest))
	e.RawJSON(key, n.Append(nil, 10))
}

// A secondText is the text of a time in some layout, kept for the other times
// of the same second: they differ only in the digits of the fraction.
// Formatting each of them with package time would take longer than encoding a
// few fields.
type secondText struct {
	sec    int64
	zone   *time.Location
	text   []byte // empty if nothing is kept
	from   int    // offset of the fraction in text
	digits int    // number of digits of the fraction
	other  []byte // scratch space for comparison
}

// format returns t.Format(layout). The layout must be the same in all calls.
// The text is valid until the next one.
func (s *secondText) format(t time.Time, layout string) []byte {
	if len(s.text) > 0 && t.Unix() == s.sec && t.Location() == s.zone {
		s.putFraction(t.Nanosecond())
		return s.text
	}
	return s.refill(t, layout)
}

func (s *secondText) refill(t time.Time, layout string) []byte {
	whole := t.Add(-time.Duration(t.Nanosecond()))
	s.sec, s.zone = t.Unix(), t.Location()
	s.text = whole.AppendFormat(s.text[:0], layout)
	s.other = whole.Add(111111111).AppendFormat(s.other[:0], layout)
	if s.findFraction() {
		s.putFraction(t.Nanosecond())
		return s.text
	}
	s.text = s.text[:0]
	s.other = t.AppendFormat(s.other[:0], layout)
	return s.other
}

// findFraction compares the texts of a second's beginning and of 111111111 ns
// later. It reports whether they differ in one run of digits only.
func (s *secondText) findFraction() bool {
	s.from, s.digits = 0, 0
	if len(s.text) != len(s.other) {
		return false // .999 has no digits for whole seconds
	}
	for i, c := range s.text {
		switch {
		case c == s.other[i]:
		case s.digits > 0 && i != s.from+s.digits:
			return false // the layout has the fraction twice
		default:
			if s.digits == 0 {
				s.from = i
			}
			s.digits++
		}
	}
	return s.digits <= 9
}

// putFraction writes the digits, which are cut off and not rounded.
func (s *secondText) putFraction(nsec int) {
	if s.digits == 0 {
		return
	}
	for range 9 - s.digits {
		nsec /= 10
	}
	for i := s.from + s.digits - 1; i >= s.from; i-- {
		s.text[i] = byte('0' + nsec%10)
		nsec /= 10
	}
}
