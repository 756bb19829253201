// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A refusal is one case: requests of a kind fail with an error, once or until
// it is fixed.
type refusal struct {
	mode    string
	conf    Config
	key     kmsg.Key
	err     *kerr.Error // nil: the connection is closed
	lasting bool
}

func (r *refusal) String() string {
	what := "connection closed"
	if r.err != nil {
		what = r.err.Message
	}
	return fmt.Sprintf("%s/%s/%s/lasting=%v", r.mode, r.key.Name(), what, r.lasting)
}

// refusals returns all kinds of requests that a destination makes, each with
// every possible error.
func refusals() (all []refusal) {
	codes := []*kerr.Error{nil}
	for code := int16(-1); code < 200; code++ {
		if e := kerr.TypedErrorForCode(code); code != 0 && e != nil && (e.Code == code) {
			codes = append(codes, e)
		}
	}
	plain := []kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.InitProducerID, kmsg.Produce, kmsg.ListOffsets, kmsg.Fetch}
	for _, m := range []struct {
		name string
		conf Config
		keys []kmsg.Key
	}{
		{"PerSpool", Config{}, plain},
		{"RoundRobin", Config{RoundRobin: true}, plain},
		{"transactional", Config{TransactionalID: "tx"}, append(plain, kmsg.FindCoordinator, kmsg.AddPartitionsToTxn, kmsg.EndTxn)},
	} {
		for _, key := range m.keys {
			for _, e := range codes {
				if m.name == "transactional" && key == kmsg.InitProducerID && (e == kerr.ProducerFenced || e == kerr.InvalidProducerEpoch) {
					continue // a later process has the transactional id: this one must not send any more
				}
				for _, lasting := range []bool{false, true} {
					all = append(all, refusal{m.name, m.conf, key, e, lasting})
				}
			}
		}
	}
	return all
}

// arm makes requests fail until heal is called. failed returns how many have
// failed.
func (r *refusal) arm(c *kfake.Cluster) (heal func(), failed func() int) {
	count := 1
	if r.lasting {
		count = -1
	}
	if r.err != nil {
		topLevel := r.key == kmsg.InitProducerID || r.key == kmsg.EndTxn || r.key == kmsg.ApiVersions
		f := c.Fault(kfake.Fault{Keys: []kmsg.Key{r.key}, Err: r.err, Count: count, TopLevel: topLevel})
		return f.Remove, f.Hits
	}
	var healed atomic.Bool
	var hits atomic.Int64
	c.ControlKey(int16(r.key), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if healed.Load() || hits.Load() > 0 && !r.lasting {
			return nil, nil, false
		}
		hits.Add(1)
		return nil, errors.New("closed"), true
	})
	return func() { healed.Store(true) }, func() int { return int(hits.Load()) }
}

// run makes a destination and calls work. It heals the fault when that was
// reported twice, or when work has returned.
func (r *refusal) run(t *testing.T, c *kfake.Cluster, work func(d *Destination)) *Destination {
	conf := r.conf
	var heal func()
	var reports atomic.Int64
	conf.OnError = func(error) {
		if reports.Add(1) == 2 {
			heal()
		}
	}
	conf.Timeout = 2 * time.Second
	d := dial(t, c, conf)
	var failed func() int
	heal, failed = r.arm(c)
	work(d)
	heal()
	if r.lasting && failed() > 2 && reports.Load() < 2 { // franz-go repeats some requests once
		t.Errorf("%d requests have failed, and there were %d reports", failed(), reports.Load())
	}
	return d
}

// Each kind of request fails with each error, once or until it is fixed, while
// a process delivers, and again while the next process, which does not have the
// latest mark, resumes. Nothing is rejected, lost or duplicated, lasting errors
// are reported, and delivery continues.
func TestEachRequestFails(t *testing.T) {
	all := refusals()
	selected := seed.Sample(t, 3, 97)
	cases := make(chan refusal)
	go func() {
		defer close(cases)
		for _, r := range all {
			if selected() {
				cases <- r
			}
		}
	}()
	var ran atomic.Int64
	var wg sync.WaitGroup
	for range 24 { // they mostly wait
		wg.Go(func() {
			for r := range cases {
				if !t.Failed() {
					ran.Add(1)
					t.Run(r.String(), r.test)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d cases", ran.Load(), len(all))
}

func (r *refusal) test(t *testing.T) {
	c := start(t, 2)
	var mark []byte
	first := r.run(t, c, func(d *Destination) {
		deliverAll(t, d, 1, 10)
		mark = d.Mark()
		deliverAll(t, d, 11, 15)
	})
	_ = first.Close()
	r.run(t, c, func(d *Destination) {
		rest := records(7, 11, 20)
		for len(rest) > 0 {
			n, err := d.Resume(t.Context(), mark, rest)
			if rest = rest[n:]; err == nil && n == 0 {
				break
			}
		}
		_ = d.Mark()
		if len(rest) > 0 {
			deliverAll(t, d, rest[0].Seq, 20)
		}
		deliverAll(t, d, 21, 30)
	})
	wantSpool(t, c, 7, 30, isPerSpool(r.conf))
}

// deliverAll delivers all records, ignoring errors of Deliver.
func deliverAll(t testing.TB, d *Destination, first, last uint64) {
	for late := time.Now().Add(testTimeout); first <= last; {
		res, err := d.Deliver(t.Context(), records(7, first, last))
		if len(res.Rejected) > 0 || err != nil && time.Now().After(late) {
			t.Errorf("got %+v, %v", res, err)
			return
		}
		first += uint64(res.Accepted)
	}
}
