// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"errors"
	"time"
)

// A port is the socket of journald.
type port interface {
	// send sends an entry as one datagram, without waiting. Its errors are
	// errFull, errLarge, errGone, or errors of the system.
	send(entry []byte) error
	// sendFile sends an entry in a file. It returns the same errors as send.
	sendFile(entry []byte) error
	// connect reconnects to the socket that is now at the path. Its errors are
	// errGone, or errors of the system.
	connect() error
	close()
}

// The errors of a port besides errGone.
var (
	errFull  = errors.New("nib/journald: no room for a datagram")
	errLarge = errors.New("nib/journald: too large for a datagram")
)

// How long a waiting call sleeps before it retries. Sleeping, unlike waiting
// for the descriptor, blocks no thread for any number of waiting calls.
const (
	firstPause = 50 * time.Microsecond
	lastPause  = 2 * time.Millisecond
)

// deliver sends an entry, waiting up to Config.Stall.
func (s *Sink) deliver(entry []byte) error {
	err := s.try(entry)
	if err == nil {
		if s.troubled.Load() {
			s.troubled.Store(false)
		}
		return nil
	}
	if !passes(err) || s.troubled.Load() {
		return reported(err)
	}
	deadline := time.Now().Add(s.config.Stall)
	// The last attempt follows the deadline: the process may have been stopped.
	last := false
	for pause := firstPause; passes(err); pause = min(2*pause, lastPause) {
		if last {
			s.troubled.Store(true)
			break
		}
		left := time.Until(deadline)
		last = left <= pause
		time.Sleep(min(pause, left))
		err = s.try(entry)
	}
	return reported(err)
}

// passes reports whether err may be temporary.
func passes(err error) bool { return err == errFull || err == errGone }

// reported returns the error for callers.
func reported(err error) error {
	if err == errFull {
		return errStalled
	}
	return err
}

// try sends an entry without waiting. If the connection is closed it first
// reconnects.
func (s *Sink) try(entry []byte) error {
	era, err := s.send(entry)
	if err != errGone {
		return err
	}
	if err := s.reconnect(era); err != nil {
		return err
	}
	_, err = s.send(entry)
	return err
}

// send sends an entry as a datagram or in a file, depending on its size. era is
// the connection to which err applies.
func (s *Sink) send(entry []byte) (era uint64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return s.era, errClosed
	}
	if err = s.port.send(entry); err == errLarge {
		if err = s.port.sendFile(entry); err == nil {
			s.counters.large.Add(1)
		}
	}
	return s.era, err
}

// reconnect replaces the connection of era, unless another call has done so.
func (s *Sink) reconnect(era uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case s.era != era:
		return nil
	}
	err := s.port.connect()
	if err == nil {
		s.era++
		s.counters.reconnects.Add(1)
	}
	return err
}
