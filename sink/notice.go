// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/pool"
)

// suppressedMessage is the message of a line that reports the number of lines
// that a [Limit] or [Sample] has suppressed.
const suppressedMessage = "lines suppressed"

// The keys of such a line.
const (
	countKey = "count" // number of suppressed lines
	ofKey    = "of"    // the beginning of their message, if there is no call site
)

// A pendingCount is the number of lines that were suppressed and not yet
// reported.
type pendingCount struct {
	key   key
	lines uint64
	text  text // beginning of the message, if the key has no call site
}

// notices makes the count lines. They are ordinary lines, written by a logger
// to the sink that lacks the suppressed lines, with their level, call site and
// layout.
type notices struct {
	to     nib.Sink
	layout nib.Layout
	idle   *pool.Pool[*notice]
}

// A notice is a logger that is used for one line at a time, so that an error
// can be attributed to its line.
type notice struct {
	nib.Sink
	traits // traits of the sink
	log    *nib.Logger
	err    error
	quoted []byte
}

func (s *notices) start(to nib.Sink, layout nib.Layout) {
	s.to, s.layout = to, layout
	s.idle = pool.New(s.newNotice)
}

func (s *notices) newNotice() *notice {
	n := &notice{Sink: s.to, traits: contract.TraitsFor(nil, contract.TraitsOf(s.to))}
	n.log = nib.NewSink(n, nib.WithLayout(s.layout), nib.WithCaller(),
		nib.WithErrorHandler(func(err error) { n.err = err }))
	return n
}

// send writes the line for d.
func (s *notices) send(d *pendingCount, now time.Time) error {
	n := s.idle.Get()
	e := n.log.Entry(nib.Entry{Time: now, Level: levelAt(int(d.key.level)), PC: d.key.pc,
		Message: suppressedMessage})
	if d.text.size > 0 {
		n.quoted = append(append(append(n.quoted[:0], '"'), d.text.get()...), '"')
		e.RawJSON(ofKey, n.quoted)
	}
	e.Uint64(countKey, d.lines).Send()
	err := n.err
	n.err = nil
	s.idle.Put(n)
	return err
}
