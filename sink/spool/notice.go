// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"strconv"
	"time"

	"github.com/nib-log/nib"
)

// notice writes a line into a segment that nobody else knows yet, if lines were
// dropped since the last one. mu is held.
func (s *Sink) notice(g *segment) {
	losses := s.losses()
	lost := losses.minus(&s.told)
	if lost == (tally{}) {
		return
	}
	now := time.Now()
	r := nib.Record{Time: now.UnixNano(), Level: nib.LevelWarn, Line: appendNotice(nil, now, lost.list())}
	size := recordSize(&r, -1)
	if at, seq, ok := g.reserve(size); ok {
		if ok, _ := g.write(at, size, seq, &r, -1); !ok {
			s.retireLocked(g, at, size) // the next segment tells of it
			return
		}
		s.told, g.told = losses, lost
		s.stats.Notices++
	}
}

// losses is what was dropped for any destination: a line that several have lost counts once.
// mu is held.
func (s *Sink) losses() tally {
	var most tally
	for _, d := range s.deliveries {
		for c := range most {
			for l := range most[c] {
				most[c][l] = max(most[c][l], d.dropped[c][l])
			}
		}
	}
	return most.plus(&s.dropped)
}

// appendNotice appends the line that tells of a loss.
func appendNotice(dst []byte, now time.Time, lost []Drop) []byte {
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
