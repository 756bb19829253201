// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"time"

	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/linevalue"
)

// A clock reads the times of lines of text.
type clock struct {
	zone *time.Location // of times that have none; nil is UTC
	now  time.Time      // zero is the present time

	place     string // the name of the zone of an earlier line, as in the zone database
	placeZone *time.Location
}

// SetNow sets the time at which times without a year or a day are read: they
// are the last such times before. The default is the present time.
func (l *Line) SetNow(now time.Time) { l.clock.now = now }

// ahead is how far a clock may be wrong that has no year or day.
const ahead = 24 * time.Hour

// location returns the zone of times that have none.
func (c *clock) location() *time.Location {
	if c.zone == nil {
		return time.UTC
	}
	return c.zone
}

// valueTime reads the time in a raw value: a text as at the beginning of a line
// of text, or an object of MongoDB.
func (c *clock) valueTime(raw []byte) (t time.Time, ok bool) {
	if raw[0] == '{' {
		date, ok := jsonread.Lookup(raw, "$date")
		if !ok {
			return t, false
		}
		return linevalue.ParseTime(date, "", c.location())
	}
	text := bytes.Trim(raw, `"[] `)
	if len(text) < 3 || text[1] == ':' || text[2] == ':' { // a time of day is a field
		return t, false
	}
	n, t, ok := c.leadingTime(text)
	return t, ok && n == len(text)
}

// leadingTime reads the time at the beginning of a text, and returns its
// length.
func (c *clock) leadingTime(text []byte) (n int, t time.Time, ok bool) {
	switch {
	case len(text) < len("3:04PM"):
	case text[0]-'0' > 9 && len(text) > 6 && text[6] == ',':
		return c.javaTime(text)
	case text[0]-'0' > 9 && len(text) > len("Thu 2006-01-02T15:04:05") && text[8] == '-' &&
		isWeekday(text): // journalctl -o short-full
		n, t, ok = c.isoTime(text[len("Thu "):])
		return len("Thu ") + n, t, ok
	case text[0]-'0' > 9:
		return c.syslogTime(text)
	case text[1] == ':' || text[2] == ':':
		return c.clockTime(text)
	case text[1] == '.':
		return epochTime(text)
	case len(text) > len("11-26|10:00:00") && text[2] == '-' && text[5] == '|': // log15, geth
		n = 6 + wordLen(text[6:])
		t, ok = c.dayTime([]byte{text[0], text[1], text[3], text[4]}, text[6:n])
		return n, t, ok
	case len(text) < len("2026/11/26 10:00:00"):
	case text[2] == text[6] && text[3] > '9':
		return c.dayFirstTime(text)
	case text[4] == '/' && text[7] == '/':
		return c.slashTime(text)
	case text[4] == '-':
		return c.isoTime(text)
	}
	return 0, t, false
}

// isoTime reads the time of ISO 8601, also with a space for the T and before
// the zone, or with the name of the zone. A colon or comma may end it, as in
// "10:00:00,250:ERROR:" of Python.
func (c *clock) isoTime(text []byte) (n int, t time.Time, ok bool) {
	const least, most = len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.000000000 +07:00")
	zone := c.location()
	n = least
	for n < len(text) && n < most && bytes.IndexByte([]byte(" \t]|\x1b"), text[n]) < 0 {
		if (text[n] == ':' || text[n] == ',') && n+1 < len(text) && text[n+1]-'0' > 9 {
			break
		}
		n++
	}
	if rest := text[n:]; len(rest) > 5 && rest[0] == ' ' && (rest[1] == '+' || rest[1] == '-') {
		m := 1 + wordLen(rest[1:])
		if t, ok = linevalue.ParseText(text[:n+m], zone); ok {
			return n + m, t, true
		}
	}
	t, ok = linevalue.ParseText(bytes.TrimRight(text[:n], ":"), zone)
	if ok && !bytes.ContainsAny(text[least:n], "Z+-") {
		n, t = c.inNamedZone(text, n, t)
	}
	return n, t, ok
}

// inNamedZone moves t, a time of length n at the beginning of text, to the zone
// whose name follows, and returns the length of both. Abbreviations of several
// zones, and the abbreviation of the local zone, are the local zone.
func (c *clock) inNamedZone(text []byte, n int, t time.Time) (int, time.Time) {
	if n >= len(text) || text[n] != ' ' {
		return n, t
	}
	name := text[n+1:]
	name = name[:wordLen(name)]
	end := n + 1 + len(name)
	hours, ok := zoneHours[string(name)]
	local, seconds := t.Zone()
	switch {
	case string(name) == local || string(name) == "CST" || string(name) == "IST":
		return end, t
	case ok:
		return end, t.Add(time.Duration(seconds-hours*3600) * time.Second).UTC()
	case end == len(text) || text[end] != ']' || bytes.IndexByte(name, '/') < 0: // not of PHP
		return n, t
	}
	if c.place != string(name) {
		c.place = string(name)
		c.placeZone, _ = time.LoadLocation(c.place) // perhaps nil
	}
	if c.placeZone == nil {
		return n, t
	}
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return end, time.Date(year, month, day, hour, minute, second, t.Nanosecond(), c.placeZone)
}

// zoneHours has the hours east of UTC of zones.
var zoneHours = map[string]int{
	"UTC": 0, "GMT": 0, "WET": 0, "CET": 1, "BST": 1, "WEST": 1, "CEST": 2, "EET": 2, "EEST": 3,
	"MSK": 3, "JST": 9, "KST": 9, "EDT": -4, "EST": -5, "CDT": -5, "MDT": -6, "MST": -7,
	"PDT": -7, "PST": -8,
}

// epochTime reads 1.7956872e+09 before a tab, as zap's console has it.
func epochTime(text []byte) (n int, t time.Time, ok bool) {
	n = wordLen(text)
	if n == len(text) || text[n] != '\t' {
		return 0, t, false
	}
	t, ok = linevalue.ParseTime(text[:n], "", time.UTC)
	return n, t, ok && t.Unix() >= leastEpoch
}

// slashTime reads 2026/11/26 10:00:00.123456 of package log, and
// 2026/11/26 - 10:00:00 of gin.
func (c *clock) slashTime(text []byte) (n int, t time.Time, ok bool) {
	n = len("2026/11/26 ")
	if bytes.HasPrefix(text[n:], []byte("- ")) {
		n += len("- ")
	}
	from := n
	n += wordLen(text[n:])
	clock := text[from:n]
	year := number2(text)*100 + number2(text[2:])
	t, ok = c.timeOf(year, number2(text[5:]), number2(text[8:]), clock)
	return n, t, ok && text[10] == ' ' && year > 0
}

// dayFirstTime reads 26/Nov/2026:12:00:00 +0000 of web servers, which may lack
// the zone, 26-Nov-2026 12:00:00.250 of Tomcat, 26 Nov 2026 12:00:00.250 of
// Redis, and 26-Nov-2026 12:00:00 UTC of PHP.
func (c *clock) dayFirstTime(text []byte) (n int, t time.Time, ok bool) {
	const least, most = len("26/Nov/2026:12:00:00"), len("26/Nov/2026:12:00:00.000000")
	const date, zone = len("26/Nov/2026:"), len(" +0000")
	if len(text) < least || text[6] != text[2] || text[date-1] != ':' && text[date-1] != ' ' {
		return 0, t, false
	}
	n = date + wordLen(text[date:])
	if n > most {
		return 0, t, false
	}
	rest := text[n:]
	hasZone := len(rest) >= zone && rest[0] == ' ' && rest[2]-'0' <= 9 &&
		(rest[1] == '+' || rest[1] == '-')
	if hasZone {
		n += zone
	}
	m := month(text[3:6])
	var buf [most + zone]byte
	iso := append(append(buf[:0], text[7:11]...), '-', '0'+byte(m/10), '0'+byte(m%10), '-')
	iso = append(append(append(iso, text[:2]...), 'T'), text[date:n]...)
	if t, ok = linevalue.ParseText(iso, c.location()); ok && !hasZone {
		n, t = c.inNamedZone(text, n, t)
	}
	return n, t, ok
}

// syslogTime reads Nov 26 12:00:00, with the day padded by a space, and Thu Nov
// 26 12:00:00 2026 of Apache.
func (c *clock) syslogTime(text []byte) (n int, t time.Time, ok bool) {
	const least, weekday, withYear = len("Nov 26 12:00:00"), len("Thu "), len(" 2026")
	from := 0
	if len(text) > least+weekday && isWeekday(text) {
		from = weekday
	}
	text = text[from:]
	if len(text) < least || text[3] != ' ' || text[6] != ' ' || month(text[:3]) == 0 {
		return 0, t, false
	}
	day := number2(text[4:])
	if text[4] == ' ' {
		day = int(text[5] - '0')
	}
	n = 7 + wordLen(text[7:])
	clock, year := text[7:n], 0
	if from > 0 {
		rest := text[n:]
		if len(rest) < withYear || rest[0] != ' ' {
			return 0, t, false
		}
		if year = number2(rest[1:])*100 + number2(rest[3:]); year <= 0 {
			return 0, t, false
		}
		n += withYear
	}
	t, ok = c.timeOf(year, month(text[:3]), day, clock)
	return from + n, t, ok
}

// isWeekday reports whether a text begins with a day of the week and a space.
func isWeekday(text []byte) bool {
	const n = len("Thu ")
	return text[n-1] == ' ' && bytes.Contains([]byte("Sun Mon Tue Wed Thu Fri Sat "), text[:n])
}

// hour12 returns the hour of one or two digits before AM or PM.
func hour12(digits, half []byte) (hour int, ok bool) {
	switch len(digits) {
	case 1:
		hour = int(digits[0] - '0')
	case 2:
		hour = number2(digits)
	}
	if hour < 1 || hour > 12 || half[1] != 'M' || half[0] != 'A' && half[0] != 'P' {
		return 0, false
	}
	if hour %= 12; half[0] == 'P' {
		hour += 12
	}
	return hour, true
}

// clockTime reads 10:00:00.123 and 3:04PM, the last such time before now.
func (c *clock) clockTime(text []byte) (n int, t time.Time, ok bool) {
	n = wordLen(text)
	word := text[:n]
	if n >= len("10:00:00") {
		t, ok = c.timeOf(0, 0, 0, word)
		return n, t, ok
	}
	colon := bytes.IndexByte(word, ':')
	if n != colon+5 {
		return 0, t, false
	}
	hour, ok := hour12(word[:colon], word[n-2:])
	minute := number2(word[colon+1:])
	if !ok || minute < 0 || minute > 59 {
		return 0, t, false
	}
	t = c.before(0, 0, 0, hour, minute, 0, 0)
	return n, t, true
}

// dayTime returns the time of the digits of a month and a day, and of
// 10:00:00.123456. Its year is not in the line.
func (c *clock) dayTime(digits, text []byte) (t time.Time, ok bool) {
	month, day := number2(digits), number2(digits[2:])
	if month < 1 {
		return t, false
	}
	return c.timeOf(0, month, day, text)
}

// timeOf returns the time of a date and 10:00:00.123456. The date has no year
// if year is 0, and is today if month is 0, too.
func (c *clock) timeOf(year, month, day int, text []byte) (t time.Time, ok bool) {
	const least = len("10:00:00")
	if len(text) < least || len(text) > least+10 || text[2] != ':' || text[5] != ':' {
		return t, false
	}
	hour, minute, second := number2(text), number2(text[3:]), number2(text[6:])
	fraction, unit := 0, int(time.Second)
	if rest := text[least:]; len(rest) > 0 {
		if rest[0] != '.' && rest[0] != ',' || len(rest) < 2 {
			return t, false
		}
		for _, c := range rest[1:] {
			if c-'0' > 9 {
				return t, false
			}
			unit /= 10
			fraction += int(c-'0') * unit
		}
	}
	of := year
	if year == 0 {
		of = 2000 // has a February 29
	}
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
		(year != 0 || month != 0) && (day < 1 || day > linevalue.DaysOf(of, month)) {
		return t, false
	}
	return c.before(year, month, day, hour, minute, second, fraction), true
}

// before returns the last time with the given parts that is not after now.
func (c *clock) before(year, month, day, hour, minute, second, fraction int) time.Time {
	zone := c.location()
	if year != 0 {
		return time.Date(year, time.Month(month), day, hour, minute, second, fraction, zone)
	}
	now := c.now
	if now.IsZero() {
		now = time.Now()
	}
	now = now.In(zone)
	if month == 0 {
		y, m, d := now.Date()
		t := time.Date(y, m, d, hour, minute, second, fraction, zone)
		if t.After(now.Add(time.Hour)) {
			t = time.Date(y, m, d-1, hour, minute, second, fraction, zone)
		}
		return t
	}
	for year = now.Year() + 1; ; year-- { // ends: February 29 is in one year of eight
		t := time.Date(year, time.Month(month), day, hour, minute, second, fraction, zone)
		if !t.After(now.Add(ahead)) && day <= linevalue.DaysOf(year, month) {
			return t
		}
	}
}

// number2 reads two digits, or returns a negative number.
func number2(text []byte) int {
	a, b := text[0]-'0', text[1]-'0'
	if a > 9 || b > 9 {
		return -10_000
	}
	return int(a)*10 + int(b)
}

// month returns the number of a month, 0 for another text.
func month(name []byte) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if string(name) == names[i:i+3] {
			return i/3 + 1
		}
	}
	return 0
}
