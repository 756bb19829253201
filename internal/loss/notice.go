// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"strconv"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/level"
)

// NoticeSize is larger than the longest notice: 11 counts of 20 digits in 300
// bytes of text.
const NoticeSize = 640

// Notices makes the lines that report losses. They are ordinary lines, made by
// a logger with the layout of the surrounding lines. A Notices must not be used
// concurrently.
type Notices struct {
	contract.TraitSet // a Notices never logs
	log               *nib.Logger
	dst               []byte
	counts            []byte
}

// NewNotices returns a Notices. It panics if the layout is invalid.
func NewNotices(l nib.Layout) *Notices {
	n := &Notices{TraitSet: contract.TraitsFor(nil, contract.NeverLogs),
		counts: make([]byte, 0, 512)}
	n.log = nib.NewSink(n, nib.WithLayout(l))
	return n
}

// WriteRecord keeps the line of r.
func (n *Notices) WriteRecord(r *nib.Record) error {
	n.dst = append(n.dst, r.Line...)
	return nil
}

// Append appends the line that reports losses, by cause, with a message. 0
// allocs if dst has room.
func (n *Notices) Append(
	dst []byte, now time.Time, message string, reasons []delivery.Reason, lost []Levels,
) []byte {
	var byLevel Levels
	var total uint64
	counts := append(n.counts[:0], '{')
	for c := range lost {
		sum := uint64(0)
		for row, k := range lost[c] {
			byLevel[row] += k
			sum += k
		}
		counts = appendCount(counts, string(reasons[c]), sum)
		total += sum
	}
	counts = append(counts, '}')
	end := len(counts)
	counts = append(counts, '{')
	for row, k := range byLevel {
		counts = appendCount(counts, level.Names[row], k)
	}
	counts = append(counts, '}')
	n.dst, n.counts = dst, counts
	n.log.Entry(nib.Entry{Time: now, Level: nib.LevelWarn, Message: message}).
		Uint64("dropped", total).RawJSON("levels", counts[end:]).RawJSON("reasons", counts[:end]).
		Send()
	dst, n.dst = n.dst, nil
	return dst
}

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
