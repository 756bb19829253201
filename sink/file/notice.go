// SPDX-License-Identifier: Apache-2.0

package file

import (
	"time"

	"github.com/nib-log/nib/internal/loss"
)

// A head is the text to write before the next line: the end of a line that was
// cut off, and the notice of lost lines.
type head struct {
	text    []byte
	notices *loss.Notices
	line    []byte                        // the notice as JSON
	view    func(dst, line []byte) []byte // makes it look like the lines around it; may be nil
}

// appendNotice appends the line that reports a loss.
func appendNotice(n *loss.Notices, dst []byte, now time.Time, lost loss.Tally) []byte {
	message := "lines lost: the log file could not be written"
	if lost.Only(int(full)) {
		message = "lines lost: no space was left for the log file"
	}
	return n.Append(dst, now, message, reasons[:], lost[:causes])
}

// putHead writes the text that precedes the next line: the end of a line that
// was cut off, and the notice of lost lines.
func (w *writer) putHead(now int64) error {
	h := &w.head
	h.text = h.text[:0]
	if w.torn {
		h.text = append(h.text, '\n')
	}
	lost := w.dropped.Minus(w.reported)
	if lost != (loss.Tally{}) {
		h.line = appendNotice(h.notices, h.line[:0], w.clock.wall(), lost)
		h.text = loss.AppendView(h.text, h.line, h.view)
		if w.makeRoom(int64(len(h.text)), now); !w.torn && h.text[0] == '\n' {
			h.text = append(h.text[:0], h.text[1:]...) // the head goes to a new file
		}
	}
	before := w.size
	_, err := w.put(h.text)
	if lost != (loss.Tally{}) && w.size == before+int64(len(h.text)) {
		// The losses are reported even if the notice was not synced.
		w.reported = w.dropped
		w.stats.Notices++
	}
	return err
}
