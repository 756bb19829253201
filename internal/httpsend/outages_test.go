// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
)

// An outage simulates a server that works for some time, does not work for some
// time, and so on, and spools that deliver to it in turn.
type outages struct {
	lineServer
	random *rand.Rand
	bad    string // the record that is always refused
	own    int    // status of this record
	all    int    // status of all records during an outage
	down   bool
	next   time.Time     // time of the next change
	up     time.Duration // maximum time for which the server works
	outage time.Duration // maximum time for which it does not
	delay  time.Duration // maximum duration of a request
	seen   int           // number of the last request

	sender *Sender
	spools []simulated
	stored int // records in batches

	rejected map[string]time.Duration // time from the first attempt to the rejection
}

// A simulated spool delivers a batch until all of it is settled, and then the
// next one.
type simulated struct {
	batch []nib.Record
	begun time.Time // of the first attempt
	due   time.Time // of the next attempt
}

func newOutages(t *testing.T, random *rand.Rand) *outages {
	// 100 ends the connection without a response
	statuses := []int{100, 400, 401, 413, 429, 500, 502, 503}
	o := &outages{
		random: random,
		own:    statuses[random.IntN(len(statuses))],
		all:    statuses[random.IntN(len(statuses))],
		up:     []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}[random.IntN(3)],
		outage: []time.Duration{time.Minute, 10 * time.Minute, time.Hour}[random.IntN(3)],
		delay:  []time.Duration{1, 100 * time.Millisecond, time.Second}[random.IntN(3)],
		next:   time.Now(), spools: make([]simulated, 1+random.IntN(4)),
		rejected: map[string]time.Duration{},
	}
	// these statuses for each record are no outage, but about the records
	o.perItem = random.IntN(2) == 0 && !ofRecord(o.all)
	o.refuse = o.statusOf
	o.sender = o.lineServer.sender(t, nil)
	return o
}

// within returns a random part of a duration.
func (o *outages) within(d time.Duration) time.Duration {
	return time.Duration(o.random.Int64N(int64(d)))
}

// statusOf returns the status for a record.
func (o *outages) statusOf(line string) int {
	if o.seen != o.requests {
		o.seen = o.requests
		time.Sleep(o.within(o.delay)) // fake time
	}
	for ; !time.Now().Before(o.next); o.down = !o.down {
		length := o.up
		if !o.down {
			length = o.outage
		}
		o.next = o.next.Add(length/10 + o.within(length))
	}
	switch {
	case o.down:
		return o.all
	case line == o.bad:
		return o.own
	}
	return http.StatusOK
}

// run delivers for some time.
func (o *outages) run(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		for i := range o.spools {
			if p := &o.spools[i]; !time.Now().Before(p.due) {
				o.deliver(p, uint64(i))
			}
		}
		time.Sleep(100 * time.Millisecond) // fake time
	}
}

// deliver makes one attempt.
func (o *outages) deliver(p *simulated, spool uint64) {
	if len(p.batch) == 0 {
		p.batch, p.begun = recordsOf(1+o.random.IntN(8)), time.Now()
		for i := range p.batch {
			r := &p.batch[i]
			r.Spool, r.Seq = spool, uint64(o.stored)
			r.Line = fmt.Appendf(nil, "r%d\n", o.stored)
			o.stored++
		}
	}
	res, err := o.sender.Deliver(context.Background(), p.batch)
	for _, r := range res.Rejected {
		o.rejected[fmt.Sprint("r", p.batch[r.Index].Seq)] = time.Since(p.begun)
	}
	p.batch = p.batch[res.Accepted:]
	p.due = time.Now().Add(o.within(5 * time.Second))
	if len(p.batch) == 0 && err == nil {
		p.due = time.Now().Add(o.within(time.Minute))
	}
}

// An outage is no reason to reject a record, whatever its duration and status,
// and however many spools deliver in turn.
func TestOutagesWithSeveralSpools(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range seed.Times(600, 24, 8) {
		var o *outages
		synctest.Test(t, func(t *testing.T) {
			o = newOutages(t, random)
			o.run(time.Hour)
		})
		if len(o.rejected) > 0 {
			t.Errorf("%v: %d of %d records rejected: %v", o, len(o.rejected), o.stored, o.rejected)
		}
	}
}

// A record that is always refused is rejected in bounded time, whatever the
// status and however many spools deliver in turn, also if it is on its own.
func TestRefusedRecordOfSeveralSpools(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 2))
	longest := map[int]time.Duration{}
	for range seed.Times(600, 24, 8) {
		var o *outages
		synctest.Test(t, func(t *testing.T) {
			o = newOutages(t, random)
			o.next = time.Now().Add(24 * time.Hour)
			o.bad = fmt.Sprint("r", 1+random.IntN(40))
			o.run(time.Hour)
		})
		took, ok := o.rejected[o.bad]
		if !ok || len(o.rejected) > 1 || o.stored < 100 {
			t.Errorf("%v: %d records, %s is bad with status %d: rejected %v", o, o.stored, o.bad,
				o.own, o.rejected)
		}
		longest[o.own] = max(longest[o.own], took)
	}
	t.Log(longest)
}

// A record that is always refused with a status that does not concern records,
// and is alone in its spool, is rejected if the server accepts an earlier one
// again, and waits if it does not.
func TestSingleRefusedRecord(t *testing.T) {
	for _, status := range []int{100, 401, 500, 503} {
		for _, works := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s, down := badServer(status, 1, 1), false
				refuse := s.refuse
				s.refuse = func(line string) int {
					if down {
						return status
					}
					return refuse(line)
				}
				d, all := s.sender(t, nil), recordsOf(2)
				deliverFor(d, time.Minute, all[:1])
				down = !works
				rejected, left := deliverFor(d, 15*time.Minute, all[1:])
				if works != (len(rejected) == 1) || works != (left == 0) {
					t.Errorf("status %d, works %v: %d left, rejected %q", status, works, left,
						rejected)
				}
			})
		}
	}
}

func (o *outages) String() string {
	return fmt.Sprintf("up to %v with status %d, up to %v between them, requests of up to %v, "+
		"per item %v, %d spools", o.outage, o.all, o.up, o.delay, o.perItem, len(o.spools))
}
