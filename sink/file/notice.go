// SPDX-License-Identifier: Apache-2.0

package file

import (
	"strconv"
	"time"
)

// noticeSize is more than the longest notice: 10 counts of 20 digits among 300
// bytes of text.
const noticeSize = 640

// appendNotice appends the line that tells of a loss.
func appendNotice(dst []byte, now time.Time, lost tally) []byte {
	var byLevel [levels]uint64
	var byCause [causes]uint64
	var total uint64
	for c, row := range lost {
		for l, n := range row {
			byLevel[l] += n
			byCause[c] += n
			total += n
		}
	}
	dst = append(dst, `{"time":"`...)
	dst = now.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
	dst = append(dst, `","level":"warn","message":"lines lost: `...)
	if byCause[full] == total {
		dst = append(dst, `no space was left for the log file`...)
	} else {
		dst = append(dst, `the log file could not be written`...)
	}
	dst = append(dst, `","dropped":`...)
	dst = strconv.AppendUint(dst, total, 10)
	dst = append(dst, `,"levels":{`...)
	for l, n := range byLevel {
		dst = appendCount(dst, levelNames[l], n)
	}
	dst = append(dst, `},"reasons":{`...)
	for c, n := range byCause {
		dst = appendCount(dst, string(reasons[c]), n)
	}
	return append(dst, "}}\n"...)
}

// levelNames are those of nib.Level.String, which allocates for other levels.
var levelNames = func() (names [levels]string) {
	for i := range names {
		names[i] = levelAt(i).String()
	}
	return names
}()

// appendCount appends a member of an object, unless n is 0.
func appendCount(dst []byte, key string, n uint64) []byte {
	if n == 0 {
		return dst
	}
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), key...), `":`...)
	return strconv.AppendUint(dst, n, 10)
}
