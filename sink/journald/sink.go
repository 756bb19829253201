// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/level"
)

// A Sink writes lines to journald. It is created by [Open] and safe for
// concurrent use.
type Sink struct {
	traits
	config   Config
	head     string
	sites    callsite.Table[string] // the fields of each call site
	encoders sync.Pool
	counters counters

	// troubled is set from the time a call has timed out until an entry is sent,
	// so that callers do not queue up while journald does not read.
	troubled atomic.Bool

	// mu is held for reading while the port is used, and for writing while it
	// is replaced. No call waits for journald while holding it.
	mu     sync.RWMutex
	port   port
	era    uint64 // number of times that port was connected
	closed bool
}

type traits = contract.TraitSet

var _ nib.Sink = (*Sink)(nil)

// Open connects to journald. It starts no goroutine. It returns an error if c
// is invalid or journald is not running, as on systems other than Linux.
func Open(c Config) (*Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	p, err := openPort(c.Socket)
	if err != nil {
		return nil, err
	}
	return newSink(c, p), nil
}

// newSink makes a Sink of a complete Config and a connected port.
func newSink(c Config, p port) *Sink {
	s := &Sink{config: c, head: "SYSLOG_IDENTIFIER=" + c.Identifier + "\n", port: p}
	s.traits = contract.TraitsFor(s, contract.NeverLogs)
	s.encoders.New = func() any {
		return &encoder{head: s.head, prefix: c.Prefix, lineName: c.Line}
	}
	return s
}

// WriteRecord sends r to journald, or drops and counts it and returns the
// reason: [delivery.ErrStalled], [delivery.ErrClosed], an error that journald
// is not listening, or an error of the system. If it returns nil, the entry is
// in journald's queue. It waits at most Config.Stall for journald. It does not
// retain r, and does not allocate except for entries too large for a datagram.
func (s *Sink) WriteRecord(r *nib.Record) error {
	e := s.encoders.Get().(*encoder)
	entry := e.entry(r, s.siteFields(r.PC))
	err := s.deliver(entry)
	if err == nil {
		c := &s.counters.written[level.Row(int(r.Level))]
		c.lines.Add(1)
		c.bytes.Add(uint64(len(entry)))
	} else {
		s.counters.drop(r.Level, err)
	}
	if cap(e.buf) <= keepSize && cap(e.text) <= keepSize {
		s.encoders.Put(e)
	}
	return err
}

// keepSize is the maximum size of a buffer that is kept for the next line, so
// that a huge line does not hold its memory forever.
const keepSize = 64 << 10

// Close closes the socket. Entries for which WriteRecord has returned nil are
// not affected. Later lines are dropped. Closing again does nothing.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.port.close()
	}
	return nil
}
