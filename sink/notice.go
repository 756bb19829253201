// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/pool"
)

// suppressedMessage is the message of a line that reports how many lines a
// [Limit] or [Sample] has suppressed.
const suppressedMessage = "lines suppressed"

// The fields of such a line.
const (
	countKey = "count" // how many
	ofKey    = "of"    // their message, or its beginning, where no call site tells which they were
)

// A debt is lines that were suppressed and not yet announced.
type debt struct {
	key   key
	lines uint64
	text  text // of the message, if the key has no call site
}

// notices makes the lines that announce debts. They are ordinary lines of a
// logger, whose sink is the one that lacks the others, so they have the level,
// the call site and the layout of these.
type notices struct {
	to     nib.Sink
	layout nib.Layout
	idle   *pool.Pool[*notice]
}

// A notice is a logger for one line at a time, so that it is known whose line
// it was that failed.
type notice struct {
	nib.Sink
	traits // of the sink
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
func (s *notices) send(d *debt, now time.Time) error {
	n := s.idle.Get()
	e := n.log.Entry(nib.Entry{Time: now, Level: levelAt(int(d.key.level)), PC: d.key.pc, Message: suppressedMessage})
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
