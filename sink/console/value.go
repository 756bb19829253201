// SPDX-License-Identifier: Apache-2.0

package console

import (
	"math"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/linevalue"
)

// value writes a JSON value that is known to be valid.
func (p *painter) value(raw []byte) {
	switch raw[0] {
	case '"':
		p.text(raw[1:len(raw)-1], inValue)
	case '{', '[':
		p.nested(raw)
	default:
		p.dst = append(p.dst, raw...)
	}
}

// nested shows an object as {a=1 b=[x y]}. It processes the tokens one by one,
// without recursion, so its cost depends on the length only, not on the depth.
func (p *painter) nested(raw []byte) {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\n', '\r', ':':
			i++
		case ',':
			p.dst = append(p.dst, ' ')
			i++
		case '"':
			end := stringEnd(raw, i)
			body := raw[i+1 : end-1]
			if i = end; isName(raw[end:]) {
				p.key(body)
			} else {
				p.text(body, inValue)
			}
		default:
			p.dst = append(p.dst, c)
			i++
		}
	}
}

// stringEnd returns the offset after the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// isName reports whether a string that is followed by rest is the name of a
// member.
func isName(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		}
		return c == ':'
	}
	return false
}

// key writes the key of a field and its equals sign.
func (p *painter) key(key []byte) {
	p.begin(sgrKey)
	p.text(key, inKey)
	p.dst = append(p.dst, '=')
	p.end(sgrKey)
}

// duration writes a number with a readable unit, and any other value, or a
// number that is not a duration, unchanged.
func (p *painter) duration(raw []byte) {
	d, ok := parseDuration(raw, p.unit)
	if !ok {
		p.value(raw)
		return
	}
	from := len(p.dst)
	p.dst = jsonenc.AppendDurationString(p.dst, d)
	p.dst = append(p.dst[:from], p.dst[from+1:len(p.dst)-1]...) // remove the quotes
}

// parseDuration reads a decimal number of units.
func parseDuration(raw []byte, unit time.Duration) (d time.Duration, ok bool) {
	if unit == 0 || raw[0] != '-' && raw[0]-'0' > 9 {
		return 0, false
	}
	whole, nanos, ok := linevalue.ParseNumber(raw)
	if most := int64(math.MaxInt64 / unit); !ok || whole >= most || whole <= -most {
		return 0, false
	}
	return time.Duration(whole)*unit + time.Duration(nanos)*unit/time.Second, true
}

// unitOfDurations returns the unit in which a layout writes durations, 0 if
// they are written with their unit.
func unitOfDurations(f nib.DurationFormat) time.Duration {
	switch f {
	case nib.DurationMillis:
		return time.Millisecond
	case nib.DurationSeconds:
		return time.Second
	case nib.DurationNanos:
		return time.Nanosecond
	}
	return 0
}
