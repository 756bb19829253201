// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package usercode

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestReceiveWaitsForAllOfTheTime(t *testing.T) {
	const wait = time.Second
	for sent, want := range map[time.Duration]bool{
		0: true, wait / 20: true, wait * 19 / 20: true, wait * 21 / 20: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			from, begin := make(chan int, 1), time.Now()
			time.AfterFunc(sent, func() { from <- 7 })
			v, ok := Receive(from, wait)
			if ok != want || ok != (v == 7) || time.Since(begin) != min(sent, wait) {
				t.Errorf("sent after %v: got %d, %v after %v", sent, v, ok, time.Since(begin))
			}
		})
	}
}
