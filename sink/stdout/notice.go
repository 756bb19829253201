// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"time"

	"github.com/nib-log/nib/internal/loss"
)

// appendNotice appends the line that reports a loss.
func appendNotice(n *loss.Notices, dst []byte, now time.Time, lost loss.Tally) []byte {
	message := "lines lost: standard output could not be written"
	if lost.Only(int(stalled)) {
		message = "lines lost: standard output was blocked"
	}
	return n.Append(dst, now, message, reasons[:], lost[:causes])
}

// A head is the text to write before the next line: the end of a line that was
// cut off, and the notice of dropped lines.
type head struct {
	text    []byte
	sent    int        // bytes of text that are written
	lost    loss.Tally // all losses that text reports
	notices *loss.Notices
	view    func(dst, line []byte) []byte
	line    []byte // the notice as JSON
}

// prepare makes the head for the losses up to now, unless a head is partly
// written. The stream is at the end of a line, or of a line that was cut off.
// mu is held.
func (s *Sink) prepare() {
	h := &s.head
	if h.sent > 0 || !s.hasHead() {
		return
	}
	h.text = h.text[:0]
	if s.torn {
		h.text = append(h.text, '\n')
	}
	if s.dropped != s.reported {
		h.line = appendNotice(h.notices, h.line[:0], time.Now(), s.dropped.Minus(s.reported))
		h.text = loss.AppendView(h.text, h.line, h.view)
	}
	h.lost = s.dropped
}

// confirm records that the head is written completely. mu is held.
func (s *Sink) confirm() {
	h := &s.head
	if h.sent == 0 || h.sent < len(h.text) {
		return
	}
	if s.reported != h.lost {
		s.notices++
	}
	s.reported = h.lost
	s.moved += uint64(h.sent)
	s.stalled, s.torn = false, false
	h.text, h.sent = h.text[:0], 0
}

// send writes the head, then p. It returns the number of bytes of p that are
// written. It is called by the goroutine that owns the stream: the holder of mu
// in a sink without a buffer, the holder of the turn in one with a buffer.
func (s *Sink) send(p []byte) (n int, err error) {
	if h := &s.head; h.sent < len(h.text) {
		n, err := s.port.Write(h.text[h.sent:])
		h.sent += n
		if err != nil {
			return 0, err
		}
	}
	return s.port.Write(p)
}
