// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// The intervals at which a stream reports the bounds of the rows, and the
// counts.
const (
	boundsDelay = 100 * time.Millisecond
	countsDelay = 500 * time.Millisecond
	writeDelay  = 20 * time.Second // the time after which a stalled reader is disconnected
	maxBars     = 400
)

// A status describes the progress of an index.
type status struct {
	Session string  `json:"session"`
	Name    string  `json:"name"`
	Low     int64   `json:"low"`
	High    int64   `json:"high"`
	Scanned int64   `json:"scanned"` // bytes
	Size    int64   `json:"size"`
	Done    bool    `json:"done"`
	Problem string  `json:"problem,omitempty"`
	Totals  counts  `json:"totals"`
	Counts  *tables `json:"counts,omitempty"`
}

// The tables are the parts of a status that are sent less often.
type tables struct {
	Bars       *bars   `json:"bars"`
	Facets     []facet `json:"facets"`
	FacetLines int64   `json:"facetLines"`
}

func (x *index) limits() (low, high int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.bounds()
}

func (x *index) complete() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.doc.origin == 0 || len(x.back) > 0 && x.back[len(x.back)-1].start == 0
}

// status returns the current status, and a channel that is closed when it
// changes.
func (x *index) status(nbars int) (st status, changed <-chan struct{}) {
	st.Done = x.complete()
	st.Size, _ = x.doc.state()
	x.mu.Lock()
	defer x.mu.Unlock()
	st.Low, st.High = x.bounds()
	st.Totals = x.totals
	if n := len(x.back); n > 0 {
		st.Scanned += x.doc.origin - x.back[n-1].start
	}
	if n := len(x.forward); n > 0 {
		st.Scanned += x.forward[n-1].end - x.doc.origin
	}
	if x.err != nil {
		st.Problem = visible([]byte(x.err.Error()))
	}
	if nbars > 0 {
		st.Counts = &tables{Bars: x.hist.bars(nbars), Facets: []facet{}}
		if list, lines := x.facets.top(); lines > 0 {
			st.Counts.Facets, st.Counts.FacetLines = append(st.Counts.Facets, list...), lines
		}
	}
	return st, x.changed
}

// stream sends a status whenever it has changed, and an event when the session
// has ended.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return
	}
	values := r.URL.Query()
	c, err := selectionOf(values)
	n, err2 := number(values, "bars")
	var now *session
	var h *held
	var other <-chan struct{}
	if err = errors.Join(err, err2); err == nil {
		now, h, other, err = s.index(c, true)
	}
	e := events{w, http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/event-stream")
	if err != nil {
		_, failed := problem(err)
		_ = e.send("problem", failed)
		return
	}
	defer now.release(c)
	s.watch(r, e, now, h, other, int(min(max(n, 10), maxBars)))
}

func (s *Server) watch(
	r *http.Request, e events, now *session, h *held, other <-chan struct{}, bars int,
) {
	var counted time.Time
	for {
		nbars := 0
		wait := boundsDelay
		if since := time.Since(counted); since >= countsDelay {
			nbars, counted = bars, time.Now()
		}
		st, changed := h.status(nbars)
		st.Session, st.Name = now.id, s.name
		if e.send("status", st) != nil {
			return
		}
		// The counts are sent even if nothing else changes.
		var late <-chan time.Time
		if nbars == 0 {
			late = time.After(countsDelay - time.Since(counted))
		}
		select {
		case <-r.Context().Done():
			return
		case <-other:
			_ = e.send("ended", now.why) // the browser has gone
			return
		case <-changed:
		case <-late:
			wait = 0
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(wait):
		}
	}
}

// events writes server-sent events.
type events struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (e events) send(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_ = e.c.SetWriteDeadline(time.Now().Add(writeDelay)) // not all connections support deadlines
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, text); err != nil {
		return err
	}
	return e.c.Flush()
}
