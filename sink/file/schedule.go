// SPDX-License-Identifier: Apache-2.0

package file

import (
	"fmt"
	"time"
)

// A schedule determines when new files begin.
type schedule struct {
	every time.Duration
	at    []timeOfDay
	zone  *time.Location
}

// A timeOfDay is a wall clock time.
type timeOfDay struct{ hour, minute int }

// parseTimeOfDay reads "15:04".
func parseTimeOfDay(s string) (timeOfDay, error) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return timeOfDay{}, fmt.Errorf("%q is not a time of day like 09:30", s)
	}
	return timeOfDay{t.Hour(), t.Minute()}, nil
}

// newSchedule makes the schedule of a valid Config.
func newSchedule(c *Config) schedule {
	s := schedule{every: c.Every, zone: c.Zone}
	for _, text := range c.At {
		at, _ := parseTimeOfDay(text) // Validate has checked it
		s.at = append(s.at, at)
	}
	return s
}

// never reports whether no files begin at set times.
func (s *schedule) never() bool { return s.every == 0 && len(s.at) == 0 }

// next returns the first moment after t at which a file begins. 0 allocs.
func (s *schedule) next(t time.Time) time.Time {
	var first time.Time
	consider := func(c time.Time) {
		if c.After(t) && (first.IsZero() || c.Before(first)) {
			first = c
		}
	}
	consider(t.UTC().Truncate(s.every).Add(s.every)) // t itself if every is 0
	year, month, day := t.In(s.zone).Date()
	for _, at := range s.at {
		// The day after tomorrow is needed if tomorrow's hour is skipped:
		// time.Date may then choose the hour before, which is today if the time
		// is midnight.
		for d := range 3 {
			consider(time.Date(year, month, day+d, at.hour, at.minute, 0, 0, s.zone))
		}
	}
	return first
}
