// SPDX-License-Identifier: Apache-2.0

package sink

type BacktraceStats = backtraceStats

func (b *Backtracer) Stats() BacktraceStats { return b.stats() }

// SuppressionStats counts the lines of a [Suppressor]. While no call is in
// progress, Taken = Passed + Suppressed and Suppressed = Announced + Owed.
type SuppressionStats struct {
	Taken      uint64
	Passed     uint64 // written to the sink
	Suppressed uint64
	Announced  uint64 // suppressed lines that were reported by a count line
	Owed       uint64 // suppressed lines that were not reported yet
	Forgotten  uint64 // call sites or messages that were evicted
}

// Stats returns the current counts. It may be called at any time.
func (g *suppressor) Stats() SuppressionStats {
	s := SuppressionStats{
		Passed:     g.passed.total(),
		Suppressed: g.suppressed.total(),
		Announced:  g.announced.Load(),
		Owed:       uint64(max(g.owing.Load(), 0)),
		Forgotten:  g.forgotten.Load(),
	}
	s.Taken = s.Passed + s.Suppressed
	return s
}

func (b *byLevel) total() (n uint64) {
	for i := range b {
		n += b[i].Load()
	}
	return n
}
