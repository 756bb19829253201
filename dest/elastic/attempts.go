// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"fmt"
	"maps"
	"net/http"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/httpsend"
)

// errTaken is the reason to reject a record that was never sent, and whose
// document exists.
var errTaken = fmt.Errorf("nib/elastic: %w", httpsend.ErrTaken)

// attempts are the records of this process that may be in the index. A document
// that exists already is the record if the record may be there, and otherwise
// it is another one.
type attempts struct {
	mu  sync.Mutex
	own map[uint64]bool // the spools of this process

	sent  []identity // the records of the last request which no response has settled
	known []bool     // for each record of the request: whether it may be in the index by another
	maybe map[identity]struct{}
}

// An identity is the number of a record in its spool.
type identity struct{ spool, seq uint64 }

// start adds a spool of this process.
func (a *attempts) start(spool uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own == nil {
		a.own = map[uint64]bool{}
	}
	a.own[spool] = true
}

func (a *attempts) isOwn(spool uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.own[spool]
}

// begin begins a request with records of a batch. The records of the last
// request which no response has settled may be in the index.
func (a *attempts) begin(batch []nib.Record) {
	if a.maybe == nil {
		a.maybe = map[identity]struct{}{}
	}
	for _, id := range a.sent {
		if a.isOwn(id.spool) {
			a.maybe[id] = struct{}{}
		}
	}
	a.sent, a.known = a.sent[:0], a.known[:0]
	if len(a.maybe) > 2*len(batch) { // most are settled
		maps.DeleteFunc(a.maybe, func(id identity, _ struct{}) bool {
			return id.spool == batch[0].Spool && id.seq < batch[0].Seq
		})
	}
}

// add adds a record to the request.
func (a *attempts) add(r *nib.Record) {
	id := identity{r.Spool, r.Seq}
	_, maybe := a.maybe[id]
	a.known = append(a.known, maybe || !a.isOwn(r.Spool))
	a.sent = append(a.sent, id)
}

// end ends the request, whose response was read. A record may be in the index
// although the server has failed with it: another replica has it, or will.
func (a *attempts) end(statuses []httpsend.RecordStatus) {
	failed := a.sent[:0]
	for i, id := range a.sent {
		if statuses[i].Status >= http.StatusInternalServerError {
			failed = append(failed, id)
		}
	}
	a.sent = failed
}
