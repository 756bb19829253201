// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

// maxIndexes is the number of indexes that are kept while no page shows them.
const maxIndexes = 4

// A session is a document and the indexes on it, until the file is truncated.
type session struct {
	id  string
	doc *document
	ctx context.Context
	end context.CancelFunc
	why string // the reason for the next session, once there is one

	mu      sync.Mutex
	indexes map[selection]*held
	running sync.WaitGroup
}

// A held is an index with the number of streams that show it.
type held struct {
	*index
	streams int
	stop    context.CancelFunc
}

// A selection is the query and the time range of a page.
type selection struct {
	query    string
	from, to int64 // milliseconds since 1970; 0 means no bound
	asked    int64 // different for pages with times that are relative to now
}

func newSession(ctx context.Context, number int, doc *document) *session {
	s := &session{id: strconv.Itoa(number), doc: doc, indexes: make(map[selection]*held)}
	s.ctx, s.end = context.WithCancel(ctx)
	return s
}

// close ends all indexes, and closes the document.
func (s *session) close() error {
	s.end()
	s.running.Wait()
	return s.doc.Close()
}

// compile returns the query of a selection.
func (c selection) compile(now time.Time) (*logread.Query, error) {
	if c.from == 0 && c.to == 0 {
		return logread.ParseQuery(c.query, now)
	}
	return c.and("time >= %q and time < %q", now)
}

// and returns the query and a condition on its range of time.
func (c selection) and(condition string, now time.Time) (*logread.Query, error) {
	q, err := logread.ParseQuery(c.query, now)
	if err != nil {
		return nil, err
	}
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }
	window, err := logread.ParseQuery(fmt.Sprintf(condition, at(c.from), at(c.to)), now)
	return logread.And(window, q), err
}

var errEnded = errors.New("the session has ended")

// index returns the index of a selection. A stream keeps it until it calls
// release.
func (s *session) index(c selection, stream bool) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, errEnded
	}
	h := s.indexes[c]
	if h == nil {
		q, err := c.compile(time.Now())
		if err != nil {
			return nil, err
		}
		s.evict()
		ctx, stop := context.WithCancel(s.ctx)
		h = &held{index: newIndex(s.doc, q, c.window(s.indexes[selection{}])), stop: stop}
		s.indexes[c] = h
		s.running.Go(func() { h.run(ctx) })
	}
	h.used = time.Now()
	if stream {
		h.streams++
	}
	return h, nil
}

// evict removes the indexes that have not been used for longest.
func (s *session) evict() {
	for len(s.indexes) >= maxIndexes {
		var oldest selection
		var unused *held
		for c, h := range s.indexes {
			if h.streams == 0 && (unused == nil || h.used.Before(unused.used)) {
				oldest, unused = c, h
			}
		}
		if unused == nil {
			return
		}
		unused.stop()
		delete(s.indexes, oldest)
	}
}

// release ends the use of an index by a stream. The index of a query is dropped
// if it is not complete, because it would take the processor from the others.
// The index of all lines continues, so that a page that is reloaded need not
// start again.
func (s *session) release(c selection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.indexes[c]
	if h.streams--; h.streams > 0 || h.complete() || c == (selection{}) {
		return
	}
	h.stop()
	delete(s.indexes, c)
}
