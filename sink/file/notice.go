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
	line    []byte // the notice as JSON
}

// appendNotice appends the line that reports a loss.
func appendNotice(n *loss.Notices, dst []byte, now time.Time, lost loss.Tally) []byte {
	message := "lines lost: the log file could not be written"
	if lost.Only(int(full)) {
		message = "lines lost: no space was left for the log file"
	}
	return n.Append(dst, now, message, reasons[:], lost[:causes])
}
