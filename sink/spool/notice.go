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
	lost := s.dropped.minus(&s.told)
	if lost == (tally{}) {
		return
	}
	now := time.Now()
	r := nib.Record{Time: now.UnixNano(), Level: nib.LevelWarn, Line: appendNotice(nil, now, lost.list())}
	size := recordSize(&r, -1)
	if at, seq, ok := g.reserve(size); ok {
		g.write(at, size, seq, &r, -1)
		s.told, g.told = s.dropped, lost
		s.stats.Notices++
	}
}

// appendNotice appends the line that tells of a loss.
func appendNotice(dst []byte, now time.Time, lost []Drop) []byte {
	dst = append(dst, `{"time":"`...)
	dst = now.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
	dst = append(dst, `","level":"warn","message":"lines lost by the spool","dropped":`...)
	dst = strconv.AppendUint(dst, Stats{Dropped: lost}.Lost(), 10)
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

// dropOldest takes the oldest segment away that the delivering goroutine does not have,
// and counts its lines. It reports false if there is none, or somebody is still
// writing to it, or some of it is damaged. mu is held.
func (s *Sink) dropOldest() bool {
	if len(s.queue) < 2 { // the last one is active
		return false
	}
	g := s.queue[0]
	end, next, _ := g.claimed()
	var lost tally
	var n uint64
	for sc := newScanner(g.b[:end], g.identity, g.first); ; n++ {
		rec, _, ok := sc.next()
		if !ok {
			break
		}
		lost.add(oldest, nib.Level(int16(le.Uint16(rec[28:]))), 1)
	}
	if n != next-g.first {
		return false
	}
	s.queue = s.queue[1:]
	if g.drop != nil {
		g.drop() // all is committed: no writer has anything left to do there
		if err := s.dir.remove(g.number); err != nil {
			s.stats.Errors++ // the next start delivers it
		}
	}
	for l, n := range lost[oldest] {
		s.dropped[oldest][l] += n
	}
	s.told = s.told.minus(&g.told) // nobody has read that
	s.skips += n
	s.segments, s.bytes = s.segments-1, s.bytes-s.c.SegmentSize
	s.wantMore()
	s.broadcast()
	return true
}
