// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseMoment parses a point in time as people write it: RFC 3339 or a part of
// it ("2026-11-21T09:30:00Z", "2026-11-21 09:30", "2026-11-21"), the time of a
// day ("14:30", "yesterday 14:30"), a day ("today", "yesterday"), how long ago
// ("-3h", "10m", "2d", "1w"), "now", or seconds since 1970 ("@1763717400"). A
// text without a zone is in the zone of now. A time of day is today.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, ok := parseRelative(text, now); ok {
		return t, nil
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	} {
		if t, err := time.ParseInLocation(layout, strings.Replace(text, ",", ".", 1),
			now.Location()); err == nil {
			return t, nil
		}
	}
	day, clock := "today", text
	if before, after, ok := strings.Cut(text, " "); ok {
		day, clock = before, after
	}
	if midnight, ok := parseDay(day, now); ok {
		for _, layout := range []string{"15:04", "15:04:05"} {
			if t, err := time.Parse(layout, clock); err == nil {
				y, m, d := midnight.Date()
				return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
					now.Location()), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf(
		"%q is not a time: write 2026-11-21T09:30:00Z, 14:30, yesterday or -3h", text)
}

// maxDays is less than a time.Duration can be.
const maxDays = 36_500

func parseRelative(text string, now time.Time) (time.Time, bool) {
	if t, ok := parseDay(text, now); ok {
		return t, true
	}
	if text == "now" {
		return now, true
	}
	if digits, ok := strings.CutPrefix(text, "@"); ok {
		if seconds, err := strconv.ParseFloat(digits, 64); err == nil && seconds > -1e11 &&
			seconds < 1e11 {
			return time.UnixMicro(int64(seconds * 1e6)).In(now.Location()), true
		}
	}
	ago := strings.TrimPrefix(text, "-")
	if n := strings.TrimRight(ago, "dw"); n != ago {
		days, err := strconv.ParseFloat(n, 64)
		if strings.HasSuffix(ago, "w") {
			days *= 7
		}
		if err != nil || days < 0 || days >= maxDays || len(n) != len(ago)-1 {
			return now, false
		}
		return now.Add(-time.Duration(days * float64(24*time.Hour))), true
	}
	d, err := time.ParseDuration(ago)
	return now.Add(-d), err == nil && d >= 0
}

// parseDay returns the midnight at which a day begins.
func parseDay(text string, now time.Time) (time.Time, bool) {
	y, m, d := now.Date()
	switch strings.ToLower(text) {
	case "today":
	case "yesterday":
		d--
	default:
		return time.Time{}, false
	}
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), true
}
