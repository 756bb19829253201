// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// answered sends all records until they are settled, to a broker that returns a
// code for every batch with a bad record. It returns the number of requests,
// and stops at most.
func answered(ctx context.Context, l *lane, batch []nib.Record, code int16, bad map[uint64]bool,
	most int) int {
	return answeredBy(ctx, l, batch, most, func(_ int, numbers []uint64) int16 {
		if slices.ContainsFunc(numbers, func(seq uint64) bool { return bad[seq] }) {
			return code
		}
		return 0
	})
}

// answeredBy is answered for a broker whose code depends on the number of
// requests before this one and the numbers of the batch.
func answeredBy(ctx context.Context, l *lane, batch []nib.Record, most int,
	code func(n int, numbers []uint64) int16) (n int) {
	for n < most {
		if len(l.queue) == 0 && len(l.todo) == 0 {
			for i := range l.d.states {
				if !l.d.states[i].settled {
					l.todo = append(l.todo, i)
				}
			}
			if len(l.todo) == 0 {
				return n
			}
			l.held = l.held[:0]
		}
		if len(l.queue) == 0 {
			l.encode(batch)
		}
		p := l.queue[0]
		p.answer = &kmsg.ProduceResponseTopicPartition{BaseOffset: -1}
		p.answer.ErrorCode = code(n, p.numbers)
		n++
		_ = l.receive(ctx, p, batch) // the records are sent again
	}
	return n
}

// TestEveryCode has every error code for one bad record of a batch, in each
// place, and for all of them. Good records arrive, and the bad one is rejected
// with its reason, unless the code is about the broker. If all are bad, all
// wait.
func TestEveryCode(t *testing.T) {
	const size, most = 8, 200
	count := 0
	for code := int16(-1); code < 200; code++ {
		kind := classify(code)
		if kind == accepted || kind == unsure {
			continue // another test has these
		}
		for _, bad := range [][]uint64{{1}, {2}, {4}, {7}, {8}, {1, 2, 3, 4, 5, 6, 7, 8}} {
			count++
			l, is := testLane(size), map[uint64]bool{}
			for _, seq := range bad {
				is[seq] = true
			}
			n := answered(t.Context(), l, records(7, 1, size), code, is, most)
			finds := kind != retry && len(bad) == 1
			if finds != (n < most) {
				t.Errorf("%d for %v: %d requests", code, bad, n)
			}
			for i, st := range l.d.states {
				refused := is[uint64(i+1)]
				if kind == retry && st.reason != nil || len(bad) > 1 && st.settled ||
					finds && (!st.settled || refused != (st.reason != nil)) ||
					finds && refused && !errors.Is(st.reason, kerr.ErrorForCode(code)) {
					t.Errorf("%d for %v: record %d: got %+v", code, bad, i+1, st)
				}
			}
		}
	}
	t.Logf("%d cases", count)
}

// TestUnclearCodeThatPasses has a broker that returns an unclear code for a
// while: no record is rejected.
func TestUnclearCodeThatPasses(t *testing.T) {
	for most := range 2 * tolerance {
		l, batch := testLane(8), records(7, 1, 8)
		all := map[uint64]bool{1: true, 4: true, 8: true}
		answered(t.Context(), l, batch, kerr.UnknownServerError.Code, all, most)
		answered(t.Context(), l, batch, 0, nil, 100)
		for i, st := range l.d.states {
			if !st.settled || st.reason != nil {
				t.Errorf("after %d requests: record %d: got %+v", most, i+1, st)
			}
		}
	}
}

// A batch is too large, or is split because of an outage. An outage that begins
// while its parts are sent, after one was accepted, is no reason to reject a
// record.
func TestOutageWhileABatchIsSplit(t *testing.T) {
	const n, most = 4, 100
	down := kerr.UnknownServerError.Code
	check := func(what string, code func(n int, numbers []uint64) int16) {
		l := testLane(n)
		requests := answeredBy(t.Context(), l, records(7, 1, n), most, code)
		for i, st := range l.d.states {
			if !st.settled || st.reason != nil {
				t.Errorf("%s: record %d: got %+v after %d requests", what, i+1, st, requests)
			}
		}
	}
	for size := range n {
		for begin := range 2 * n {
			for end := range most / 2 {
				check(fmt.Sprintf("up to %d records, requests %d to %d fail", size+1, begin, end),
					func(n int, numbers []uint64) int16 {
						switch {
						case begin <= n && n < end:
							return down
						case len(numbers) > size+1:
							return kerr.MessageTooLarge.Code
						}
						return 0
					})
			}
		}
	}
	for end := range most / 2 {
		check(fmt.Sprintf("a second outage until request %d", end), func(n int, _ []uint64) int16 {
			switch {
			case n == tolerance: // the first half
				return 0
			case n == tolerance+1 && n < end: // the broker starts again
				return kerr.NotLeaderForPartition.Code
			case n < max(tolerance, end):
				return down
			}
			return 0
		})
	}
}
