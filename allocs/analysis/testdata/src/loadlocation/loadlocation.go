// SPDX-License-Identifier: Apache-2.0

package loadlocation

import (
	"sync"
	"time"
)

var berlin, _ = time.LoadLocation("Europe/Berlin")

var paris = sync.OnceValues(func() (*time.Location, error) { return time.LoadLocation("Europe/Paris") })

var once sync.Once

func init() {
	berlin, _ = time.LoadLocation("Europe/Berlin")
	for range 3 {
		time.LoadLocation("Asia/Tokyo") // want `reads the time zone file each time`
	}
}

func inOnce(t time.Time) time.Time {
	once.Do(func() { berlin, _ = time.LoadLocation("Europe/Berlin") })
	return t.In(berlin)
}

// Nothing is read for these two.
func utc() { time.LoadLocation("UTC"); time.LoadLocation("Local") }

// The name is part of a configuration, which is read once.
func configured(name string) (*time.Location, error) { return time.LoadLocation(name) }

func perName(names []string) (all []*time.Location) {
	for _, n := range names {
		l, _ := time.LoadLocation(n) // want `reads the time zone file each time`
		all = append(all, l)
	}
	return all
}

//alloc:none
func hot(name string) { time.LoadLocation(name) } // want `reads the time zone file each time`

var each = func() { time.LoadLocation("Asia/Tokyo") } // want `reads the time zone file each time`
