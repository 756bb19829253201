// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// A number has the digits of the magnitude of an integer, without leading
// zeros, since float64 does not have all integers. They are a part of the
// parsed text.
type number struct {
	float  float64
	digits []byte
}

func (n number) compare(m number) int {
	if n.float != m.float || n.digits == nil || m.digits == nil {
		return cmp.Compare(n.float, m.float)
	}
	c := cmp.Or(cmp.Compare(len(n.digits), len(m.digits)), bytes.Compare(n.digits, m.digits))
	if n.float < 0 {
		c = -c
	}
	return c
}

// powers are exact in float64.
var powers = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18,
}

// parseNumber reads a decimal number.
func parseNumber(text []byte) (n number, ok bool) {
	digits, negative := text, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits, negative = text[1:], text[0] == '-'
	}
	if len(digits) == 0 || digits[0]-'0' > 9 {
		return n, false
	}
	var sum uint64
	point, i := -1, 0
	for ; i < len(digits) && i < 19; i++ {
		c := digits[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if c-'0' > 9 {
			break
		}
		sum = sum*10 + uint64(c-'0')
	}
	switch {
	case i < len(digits), sum >= 1<<53 && point >= 0:
		return parseAnyNumber(text)
	case point >= 0:
		n.float = float64(sum) / powers[i-1-point] // both are exact, so the quotient is right
	default:
		n = number{float64(sum), bytes.TrimLeft(digits, "0")}
	}
	if negative {
		n.float = -n.float
	}
	return n, true
}

// parseAnyNumber reads the numbers that are rare in logs. It rejects numbers
// of package strconv that are not decimal.
func parseAnyNumber(text []byte) (n number, ok bool) {
	for i, c := range text {
		switch {
		case c-'0' <= 9, c == '.', c == '+', c == '-', i > 0 && c|0x20 == 'e':
		default:
			return n, false
		}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	n = number{float: f}
	if !bytes.ContainsAny(text, ".eE") {
		n.digits = bytes.TrimLeft(text, "+-0")
	}
	return n, err == nil
}

var sizes = []struct {
	suffix string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// parseSize reads 10MB.
func parseSize(text string) (number, bool) {
	for _, s := range sizes {
		if digits, ok := strings.CutSuffix(text, s.suffix); ok {
			n, ok := parseNumber([]byte(digits))
			return number{float: n.float * s.factor}, ok
		}
	}
	return number{}, false
}

// units of time.Duration.String, the longer ones first.
var units = []struct {
	name string
	unit time.Duration
}{
	{"ns", time.Nanosecond}, {"us", time.Microsecond}, {"µs", time.Microsecond},
	{"μs", time.Microsecond}, {"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute},
	{"h", time.Hour},
}

// parseDuration reads a duration as time.ParseDuration does, without
// allocating.
func parseDuration(text []byte) (time.Duration, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	var sum float64
	for ok := false; len(text) > 0 || !ok; ok = true {
		end := 0
		for end < len(text) && (text[end]-'0' <= 9 || text[end] == '.') {
			end++
		}
		n, isNumber := parseNumber(text[:end])
		text = text[end:]
		unit := time.Duration(0)
		for _, u := range units {
			if len(text) >= len(u.name) && string(text[:len(u.name)]) == u.name {
				unit, text = u.unit, text[len(u.name):]
				break
			}
		}
		if !isNumber || unit == 0 {
			return 0, false
		}
		sum += n.float * float64(unit)
	}
	if sum >= math.MaxInt64 {
		return 0, false
	}
	if negative {
		sum = -sum
	}
	return time.Duration(math.Round(sum)), true
}

// unitOfKey returns the unit of durations at the end of a key (took_ms,
// tookMs), 0 if it has none.
func unitOfKey(key string) time.Duration {
	for _, u := range []struct {
		suffixes string
		unit     time.Duration
	}{
		{"_ms _millis _msec _milliseconds", time.Millisecond},
		{"_us _micros _usec _microseconds", time.Microsecond},
		{"_ns _nanos _nsec _nanoseconds", time.Nanosecond},
		{"_s _sec _secs _seconds", time.Second},
	} {
		for _, s := range strings.Fields(u.suffixes) {
			camel := strings.ToUpper(s[1:2]) + s[2:]
			if strings.HasSuffix(key, s) || len(camel) > 1 && strings.HasSuffix(key, camel) {
				return u.unit
			}
		}
	}
	return 0
}

// durationUnit returns the unit in which the logger that wrote the line writes
// durations. It is recognised by its keys.
func (l *Line) durationUnit() time.Duration {
	switch l.Key("level") {
	case "level":
		if l.derived&factLevel != 0 { // a number
			return time.Millisecond // pino, bunyan
		}
	case "log.level":
		return time.Nanosecond // ECS
	case "SeverityText":
		return time.Second // OpenTelemetry
	case "status":
		if l.Key("time") == "timestamp" {
			return time.Nanosecond // Datadog
		}
	}
	switch {
	case l.format != FormatJSON || l.Key("message") != "msg":
		return time.Millisecond // nib, zerolog
	case l.Key("time") == "ts":
		return time.Second // zap
	}
	return time.Nanosecond // log/slog, logrus
}
