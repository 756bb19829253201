// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package elastic

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
)

// A handler responds to a request, and reports whether it has done so.
type handler = func(http.ResponseWriter, *request) bool

// TestAnotherDocumentHasTheID has documents in the index with the ids of some
// records. If the records are of this process and were never sent, they are
// rejected, also if other records of the request, or all requests at first, are
// refused. Otherwise they count as present, and so do records after a request
// that may have created them.
func TestAnotherDocumentHasTheID(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, most := range []bool{false, true} {
			for name, answer := range map[string]func(s **server) handler{
				"at once": func(**server) handler { return nil },
				"after a request without a response": func(s **server) handler {
					return first(1, cut(s, ""))
				},
			} {
				t.Run(fmt.Sprint(name, " own=", own, " most=", most), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { another(t, own, most, answer) })
				})
			}
		}
	}
}

func another(t *testing.T, own, most bool, answer func(s **server) handler) {
	batch := batchOf(100)
	s := &server{index: map[string][]byte{}}
	if s.answer = answer(&s); s.answer == nil {
		for i := range batch {
			if i%10 == 3 || most && i > 0 {
				s.index[httpsendtest.UID(&batch[i])] = []byte("{}")
			}
		}
	}
	there := len(s.index)
	s.item = func(q *request, id string, _ []byte) (int, string) {
		if q.number == 1 && strings.HasSuffix(id, "7") {
			return 429, busy
		}
		return 201, ""
	}
	d := open(t, s, Config{OnError: func(error) {}})
	if own {
		d.Start(7)
	}
	rejected, _ := httpsendtest.DeliverAll(t, d, batch)
	if !own && len(rejected) > 0 {
		t.Errorf("rejected %q, want none", rejected)
	}
	if own && (len(rejected) != there || slices.ContainsFunc(rejected, func(why string) bool {
		return !strings.HasSuffix(why, "another document has its _id")
	})) {
		t.Errorf("rejected %d, want %d", len(rejected), there)
	}
	if len(s.order) != 100-there {
		t.Errorf("got %d documents, want %d", len(s.order), 100-there)
	}
}

// TestFailedItemMayBeInTheIndex has a server that creates documents and
// responds with an error, as when a replica fails: the records that it then has
// already are accepted.
func TestFailedItemMayBeInTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, batch := &server{index: map[string][]byte{}}, batchOf(100)
		s.item = func(q *request, id string, line []byte) (int, string) {
			if q.number == 1 && strings.HasSuffix(id, "7") {
				s.index[id] = line
				return 503, `{"type":"unavailable_shards_exception"}`
			}
			return 201, ""
		}
		d := open(t, s, Config{OnError: func(error) {}})
		d.Start(7)
		rejected, _ := httpsendtest.DeliverAll(t, d, batch)
		if len(rejected) > 0 || len(s.index) != 100 {
			t.Errorf("rejected %q, got %d documents, want 100", rejected, len(s.index))
		}
	})
}

// TestAttemptsOfSeveralSpools loses the items of a response, or refuses one
// record for now, and delivers a record of another spool before the others
// again: none of them is taken for a record with the _id of another one.
func TestAttemptsOfSeveralSpools(t *testing.T) {
	for name, s := range map[string]*server{
		"a lost response": {},
		"a refused record": {item: func(q *request, id string, _ []byte) (int, string) {
			if q.number == 1 && strings.HasSuffix(id, "-1") {
				return 429, busy
			}
			return 201, ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s.answer = func(w http.ResponseWriter, q *request) bool {
					lost := s.item == nil && q.number == 1
					if lost {
						s.bulk(q, q.body)
						_, _ = io.WriteString(w, `{"items":[]}`)
					}
					return lost
				}
				d := open(t, s, Config{})
				d.Start(7)
				own, other := batchOf(100), batchOf(1)
				other[0].Spool = 9
				_, _, left := httpsendtest.Deliver(d, own, 1)
				httpsendtest.DeliverAll(t, d, other)
				rejected, _ := httpsendtest.DeliverAll(t, d, own)
				if left != 100 || len(rejected) > 0 || len(s.order) != 101 {
					t.Errorf("%d left, rejected %q, got %d documents", left, rejected, len(s.order))
				}
			})
		})
	}
}

// TestAttemptsAreForgotten loses the items of each second response, and
// delivers many batches: what is remembered is bounded by the batch.
func TestAttemptsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		s.answer = func(w http.ResponseWriter, q *request) bool {
			if q.number%2 == 1 {
				s.bulk(q, q.body)
				_, _ = io.WriteString(w, `{"items":[]}`)
			}
			return q.number%2 == 1
		}
		d := open(t, s, Config{OnError: func(error) {}})
		d.Start(7)
		batch := batchOf(1000)
		for len(batch) > 0 {
			res, err := d.Deliver(context.Background(), batch[:10])
			if err != nil {
				await.Sleep(time.Second)
			}
			if len(res.Rejected) > 0 {
				t.Fatalf("rejected: %v", res.Rejected[0].Reason)
			}
			batch = batch[res.Accepted:]
		}
		if n := len(d.bulk.maybe); n == 0 || n > 40 || len(s.order) != 1000 {
			t.Errorf("%d records are remembered, and %d arrived", n, len(s.order))
		}
	})
}
