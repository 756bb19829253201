// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"strconv"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// notice writes a line that reports a loss into a segment that no other
// goroutine can see yet. mu is held.
func (s *Sink) notice(g *segment, lost tally) (ok bool) {
	now := time.Now()
	r := nib.Record{Time: now.UnixNano(), Level: nib.LevelWarn, Line: appendNotice(nil, now, lost.list())}
	size := recordSize(&r, -1)
	at, seq, ok := g.reserve(size)
	if !ok {
		return false
	}
	if ok, _ = g.write(at, size, seq, &r, -1); ok {
		s.stats.Notices++
	} else {
		s.retireLocked(g, at, size, seq) // the next segment reports it
	}
	return ok
}

// losses is what was dropped for any destination, a line that several have lost
// once, and what earlier processes have not reported. mu is held.
func (s *Sink) losses() tally {
	var most tally
	for _, d := range s.deliveries {
		for c := range most {
			for l := range most[c] {
				most[c][l] = max(most[c][l], d.dropped[c][l])
			}
		}
	}
	most = most.plus(&s.inherited)
	most = most.plus(&s.adoptedLoss)
	return most.plus(&s.dropped)
}

// appendNotice appends the line that reports a loss.
func appendNotice(dst []byte, now time.Time, lost []delivery.Drop) []byte {
	dst = append(dst, `{"time":"`...)
	dst = now.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
	dst = append(dst, `","level":"warn","message":"lines lost by the spool","dropped":`...)
	dst = strconv.AppendUint(dst, linesOf(lost), 10)
	dst = append(dst, `,"reasons":{`...)
	for i, d := range lost {
		switch {
		case i == 0 || d.Reason != lost[i-1].Reason:
			if i > 0 {
				dst = append(dst, `},`...)
			}
			dst = append(append(append(dst, '"'), d.Reason...), `":{`...)
		default:
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), d.Level.String()...), `":`...)
		dst = strconv.AppendUint(dst, d.Lines, 10)
	}
	return append(dst, "}}}\n"...)
}
