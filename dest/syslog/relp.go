// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bufio"
	"bytes"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// A session is the RELP state of a connection. Commands are counted from 0; the
// TXNR of a command is one more, and restarts at 1 after 999999999.
//
// The reading goroutine settles commands; the writing goroutine starts them and
// waits. Both hold mu for that.
type session struct {
	frames *bufio.Reader
	wake   chan struct{} // has room for one: base has reached want, or the link has failed

	mu      sync.Mutex
	base    uint64 // the first command without a response
	next    uint64 // the next command
	want    uint64
	answers uint64 // total number of responses
	settled []bool // command n has its response, at n%len, from base to next
	refused []refusal
}

// A refusal is a negative response.
type refusal struct {
	command uint64
	why     string
}

// offers are the features of this client (RELP, section 4.4).
var offers = []byte("relp_version=0\nrelp_software=nib," + version(debug.ReadBuildInfo()) +
	",https://github.com/nib-log/nib\ncommands=syslog")

// version returns the version of the module, if it is known.
func version(info *debug.BuildInfo, ok bool) string {
	if ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "github.com/nib-log/nib" && m.Version != "" {
				return m.Version
			}
		}
	}
	return "devel"
}

// openSession sends the command open and reads the response to it.
func openSession(l *link, window int) (*session, error) {
	s := &session{
		frames: newFrames(l.stream), wake: make(chan struct{}, 1),
		settled: make([]bool, window), base: 1, next: 1,
	}
	b := appendCommand(nil, 1, "open", len(offers))
	b = append(append(append(b, ' '), offers...), '\n')
	if _, err := l.stream.Write(b); err != nil {
		return nil, err
	}
	for {
		f, err := readFrame(s.frames)
		if err != nil {
			return nil, err
		}
		if f.number == 0 && string(f.command) == "serverclose" {
			return nil, errEnded
		}
		if f.number == 0 {
			continue // the frame is only a hint
		}
		if f.number != 1 || string(f.command) != "rsp" {
			return nil, fmt.Errorf("%w: %d %s instead of a response to open", errFrame, f.number,
				f.command)
		}
		return s, checkOffers(f.data)
	}
}

// checkOffers checks the features of the receiver.
func checkOffers(data []byte) error {
	if ok, why := readResponse(data); !ok {
		return fmt.Errorf("the receiver refused: %s", why)
	}
	lines := bytes.Split(data, []byte{'\n'})
	syslog := false
	for _, line := range lines[1:] {
		name, value, _ := bytes.Cut(line, []byte{'='})
		switch string(name) {
		case "relp_version":
			if v, err := strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || v > 1 {
				return fmt.Errorf("the receiver speaks RELP version %.10q", value)
			}
		case "commands":
			for _, c := range bytes.Split(value, []byte{','}) {
				syslog = syslog || string(bytes.TrimSpace(c)) == "syslog"
			}
		}
	}
	if !syslog {
		return fmt.Errorf("the receiver does not offer the command syslog")
	}
	return nil
}

// readResponse reports whether the code at the beginning of the data of a
// response is 200. If it is not, why is the first line as text.
func readResponse(data []byte) (ok bool, why string) {
	line, _, _ := bytes.Cut(data, newline)
	if code, _, _ := bytes.Cut(line, []byte{' '}); string(code) == "200" {
		return true, ""
	}
	return false, strconv.QuoteToASCII(string(line[:min(len(line), 200)]))
}

// read reads the responses, on its own goroutine.
//
// A receiver that has not turned off Nagle's algorithm, like rsyslog, holds a
// response back until the one before it is acknowledged. Without data to send
// along, the system would delay the acknowledgement by 40 ms, once per batch.
func (s *session) read(l *link) {
	defer close(l.done)
	for {
		if l.quickAck != nil && s.frames.Buffered() == 0 {
			l.quickAck()
		}
		f, err := readFrame(s.frames)
		if err == nil {
			err = s.take(f)
		}
		if err != nil {
			l.fail(plain(err))
			s.signal()
			return
		}
	}
}

// take settles the command of a response.
func (s *session) take(f frame) error {
	if f.number == 0 {
		if string(f.command) == "serverclose" {
			return errEnded
		}
		return nil
	}
	if string(f.command) != "rsp" {
		return fmt.Errorf("%w: command %s", errFrame, f.command)
	}
	accepted, why := readResponse(f.data)
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.commandOf(f.number)
	window := uint64(len(s.settled))
	if !ok || s.settled[n%window] {
		return fmt.Errorf("%w: a response to command %d, which waits for none", errFrame, f.number)
	}
	s.settled[n%window] = true
	s.answers++
	if !accepted {
		s.refused = append(s.refused, refusal{n, why})
	}
	for s.base < s.next && s.settled[s.base%window] {
		s.base++
	}
	if s.base >= s.want {
		s.signal()
	}
	return nil
}

// commandOf returns the pending command with a TXNR.
func (s *session) commandOf(number int) (n uint64, ok bool) {
	n = s.base + (uint64(number)-1+maxNumber-s.base%maxNumber)%maxNumber
	return n, n < s.next
}

// numberOf returns the TXNR of a command.
func numberOf(n uint64) int { return int(n%maxNumber) + 1 }

// signal wakes the writing goroutine.
func (s *session) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// start returns the number of a new command, for which the window must have
// room.
func (s *session) start() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = s.next
	s.settled[n%uint64(len(s.settled))] = false
	s.next++
	return n
}

// room returns the number of commands that may be started.
func (s *session) room() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.settled) - int(s.next-s.base)
}

// close ends the session and waits for the end of the link. take does not know
// the command close, so the response to it ends the link.
func (s *session) close(l *link) {
	b := append(appendCommand(nil, numberOf(s.next), "close", 0), '\n')
	if _, err := l.stream.Write(b); err != nil {
		return
	}
	select {
	case <-l.done:
	case <-time.After(l.timeout):
	}
}

// expect makes the reader signal when all commands before want have their
// response. ready reports that they already have it, and answers is the total
// number of responses.
func (s *session) expect(want uint64) (ready bool, answers uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = want
	return s.base >= want, s.answers
}
