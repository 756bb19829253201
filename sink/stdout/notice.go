// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"time"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/stdio"
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
// cut off, and the notice of the lines dropped since the previous notice.
// Invariants:
//   - no count of reported is above its count in lost, or of lost in dropped;
//   - text does not change while it is partly written.
//
// Sink.mu protects it, except text and sent during send.
type head struct {
	torn     bool // the last line has no end
	dropped  loss.Tally
	reported loss.Tally // the part of dropped that notices have reported
	written  uint64     // notices written

	text []byte
	sent int        // bytes of text that are written
	lost loss.Tally // dropped when text was made

	notices *loss.Notices
	view    func(dst, line []byte) []byte
	line    []byte // the notice as JSON
}

func newHead(c Config) head {
	return head{
		text:    make([]byte, 0, loss.NoticeSize),
		notices: loss.NewNotices(c.Layout),
		view:    c.View,
		line:    make([]byte, 0, loss.NoticeSize),
	}
}

// isDue reports whether a head must be written, because there are losses to
// report or a line to end.
func (h *head) isDue() bool { return h.torn || h.dropped != h.reported }

// prepare makes the head for the losses up to now, unless a head is partly
// written. The stream is at the end of a line, or of a line that was cut off.
func (h *head) prepare() {
	if h.sent > 0 || !h.isDue() {
		return
	}
	h.text = h.text[:0]
	if h.torn {
		h.text = append(h.text, '\n')
	}
	if h.dropped != h.reported {
		h.line = appendNotice(h.notices, h.line[:0], time.Now(), h.dropped.Minus(h.reported))
		h.text = loss.AppendView(h.text, h.line, h.view)
	}
	h.lost = h.dropped
}

// send writes the rest of the head to p.
func (h *head) send(p *stdio.Port) error {
	n, err := p.Write(h.text[h.sent:])
	h.sent += n
	return err
}

// confirm records that the head is written, and returns its size, or 0 if it is
// not written completely.
func (h *head) confirm() (size int) {
	if h.sent == 0 || h.sent < len(h.text) {
		return 0
	}
	if h.reported != h.lost {
		h.written++
	}
	size = h.sent
	h.torn, h.reported, h.text, h.sent = false, h.lost, h.text[:0], 0
	return size
}
