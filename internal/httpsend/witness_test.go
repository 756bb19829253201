// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A server that has accepted records refuses every record of a later batch,
// with any status. If the status concerns records, they are rejected, since the
// server still accepts the earlier record, and the next batch arrives.
// Otherwise they wait.
func TestRefusedBatch(t *testing.T) {
	for _, status := range statuses(t) {
		for _, perItem := range []bool{false, true} {
			for _, n := range []int{1, 2, 20} {
				if status != http.StatusOK {
					name := fmt.Sprintf("status %d, per item %v, %d records", status, perItem, n)
					checkRefusedBatch(t, name, status, perItem, n)
				}
			}
		}
	}
}

func checkRefusedBatch(t *testing.T, name string, status int, perItem bool, n int) {
	synctest.Test(t, func(t *testing.T) {
		s := badServer(status, 2, n)
		s.perItem = perItem
		d, all := s.sender(t, nil), recordsOf(2+n+2)
		deliverFor(d, time.Minute, all[:2])
		rejected, left := deliverFor(d, 5*time.Minute, all[2:2+n])
		if !ofRecord(status) {
			if n > 2 && (left != n || len(rejected) > 0) {
				t.Errorf("%s: %d left, %d rejected, want all left", name, left, len(rejected))
			}
			return
		}
		if left > 0 || len(rejected) != n {
			t.Errorf("%s: %d left, %d rejected, want all rejected", name, left, len(rejected))
		}
		for line, reason := range rejected {
			if !strings.Contains(reason, strconv.Itoa(status)) {
				t.Errorf("%s: %s was rejected with the reason %q", name, line, reason)
			}
		}
		deliverFor(d, time.Minute, all[2+n:])
		got := strings.Join(s.got, " ")
		last := fmt.Sprintf("r%d r%d", 2+n, 3+n)
		if !strings.HasPrefix(got, "r0 r1") || !strings.HasSuffix(got, last) {
			t.Errorf("%s: got %s", name, got)
		}
	})
}

// badServer returns a server that refuses n records from number first on.
func badServer(status, first, n int) *lineServer {
	return &lineServer{refuse: func(line string) int {
		if i, _ := strconv.Atoi(line[1:]); i >= first && i < first+n {
			return status
		}
		return http.StatusOK
	}}
}

// A full batch is refused: the earlier record is repeated once for a group of
// records, and the number of requests is bounded.
func TestLargeRefusedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		s := badServer(http.StatusBadRequest, 1, n)
		d, all := s.sender(t, nil), recordsOf(1+n+1)
		deliverFor(d, time.Minute, all[:1])
		rejected, left := deliverFor(d, time.Hour, all[1:1+n])
		if left > 0 || len(rejected) != n {
			t.Errorf("%d left, %d rejected, want %d", left, len(rejected), n)
		}
		if most := 10 * n; s.requests > most || len(s.got) > n/12 {
			t.Errorf("%d requests, of which %d repeat the earlier record", s.requests, len(s.got)-1)
		}
	})
}
