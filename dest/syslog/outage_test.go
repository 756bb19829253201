// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"slices"
	"strings"
	"testing"
)

// A receiver refuses everything for some time, which begins and ends anywhere:
// within a batch, or between the attempts to send it. The outage is no reason
// to reject a record. The record that is always refused is rejected.
func TestNoOutageRejectsARecord(t *testing.T) {
	const n = 3
	commands, from, to, bad := 0, 0, 0, 0
	var arrived []string
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		commands++
		line := c.data[strings.IndexByte(c.data, '{'):]
		if down := from < commands && commands <= to; down || line == lineOf(bad) {
			return respond(c.number, "500 no"), nil
		}
		arrived = append(arrived, line)
		return accept(c), nil
	}})
	for size := 1; size <= n; size++ {
		for bad = range n + 1 {
			for from = range 2 * n {
				for to = from; to <= from+4*n; to++ {
					commands, arrived = 0, nil
					d := dial(t, "relp", r.addr, Config{})
					var rejected []int
					for done, calls := 0, 0; done < n && calls < 20*n; calls++ {
						// a record that is alone waits for another one
						until := min(max(done+size, calls/4), n)
						res, _ := d.Deliver(t.Context(), batchOf(done, until))
						for _, i := range indexesOf(res.Rejected) {
							rejected = append(rejected, done+i)
						}
						done += res.Accepted
					}
					want := linesOf(0, n)
					if bad < n {
						want = slices.Delete(want, bad, bad+1)
					}
					slices.Sort(arrived)
					arrived = slices.Compact(arrived)
					if !slices.Equal(arrived, want) || len(rejected) != n-len(want) {
						t.Errorf("batches of %d, commands %d to %d are refused, and record %d: "+
							"rejected %v, %d arrived", size, from, to, bad, rejected, len(arrived))
					}
					_ = d.Close()
				}
			}
		}
	}
}
