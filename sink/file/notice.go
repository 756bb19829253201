// SPDX-License-Identifier: Apache-2.0

package file

import (
	"time"

	"github.com/nib-log/nib/internal/loss"
)

// noticeSize is larger than the longest notice: 10 counts of 20 digits in 300
// bytes of text.
const noticeSize = 640

// appendNotice appends the line that reports a loss.
func appendNotice(dst []byte, now time.Time, lost loss.Tally) []byte {
	text := "no space was left for the log file"
	for c := range lost {
		if cause(c) != full && lost[c] != (loss.Levels{}) {
			text = "the log file could not be written"
		}
	}
	return loss.AppendNotice(dst, now, text, reasons[:], lost[:causes])
}
