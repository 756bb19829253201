// SPDX-License-Identifier: Apache-2.0

package a

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
		time.LoadLocation("UTC") // want `reads the time zone file each time`
	}
}

func f(t time.Time) time.Time {
	l, _ := time.LoadLocation("Europe/Rome") // want `reads the time zone file each time`
	once.Do(func() { berlin, _ = time.LoadLocation("Europe/Berlin") })
	return t.In(l)
}

var each = func() { time.LoadLocation("UTC") } // want `reads the time zone file each time`
