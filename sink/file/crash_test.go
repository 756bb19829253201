// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// eachOp calls f before each operation of m.
func eachOp(m *vfstest.Mem, f func()) {
	for _, op := range vfstest.Ops {
		m.Fail(vfstest.Fault{Op: op, Reached: f})
	}
}

// Deliveries are batches of lines. Some lines rotate the file.
const (
	deliveries = 12
	perBatch   = 5
)

func batchOf(from, n int) []nib.Record {
	batch := make([]nib.Record, n)
	for i := range batch {
		batch[i] = *record(nib.LevelInfo, from+i, 60)
	}
	return batch
}

// deliver delivers the lines from to to-1, as a spool would, and counts the
// settled ones in acked.
func deliver(t testing.TB, s *Sink, from, to int, acked *atomic.Int64) {
	t.Helper()
	for attempts := 0; from < to; attempts++ {
		res, err := s.Deliver(context.Background(), batchOf(from, min(perBatch, to-from)))
		if attempts > 1000 || err == nil && res.Accepted == 0 {
			t.Fatalf("Deliver settles nothing: %v", err)
		}
		from += res.Accepted
		acked.Store(int64(from))
	}
}

// TestCrashLosesNoAcceptedLine cuts the power before each operation on the file
// system, with several outcomes, starts again and delivers the lines that were
// not accepted. Each line must be there; the accepted ones must be there
// without the second delivery.
func TestCrashLosesNoAcceptedLine(t *testing.T) {
	config := Config{MaxSize: 700, Compress: Gzip(0)}
	seeds, selected := uint64(seed.Times(20, 1, 1)), seed.Sample(t, 2, 4)
	for at, done := 0, false; !done; at++ {
		if !selected() {
			continue
		}
		for seed := range seeds {
			m, clock := newMem(t)
			clock.steps = time.Millisecond // so that names are checked occasionally
			var acked atomic.Int64
			var n, accepted int64
			var image *vfstest.Mem
			var count atomic.Int64
			eachOp(m, func() {
				if count.Add(1)-1 == int64(at) {
					accepted = acked.Load()
					image = m.CrashClone(rand.New(rand.NewPCG(seed, uint64(at))).IntN)
					must(t, image.MkdirAll(logDir, 0o700)) // it may be lost as well
				}
			})
			s := openMem(t, m, clock, config)
			deliver(t, s, 0, deliveries*perBatch, &acked)
			cleaned(s)
			must(t, s.Close())
			if n = count.Load(); int64(at) >= n {
				done = true
				break
			}
			checkHas(t, memAll(t, image), int(accepted))
			again := openMem(t, image, clock, config)
			deliver(t, again, int(accepted), deliveries*perBatch, &acked)
			cleaned(again)
			must(t, again.Close())
			checkHas(t, memAll(t, image), deliveries*perBatch)
			if t.Failed() {
				t.Fatalf("crash before operation %d of %d, seed %d, with %d lines accepted", at, n, seed, accepted)
			}
		}
	}
}

// checkHas checks that the lines 0 to n-1 are in a text.
func checkHas(t testing.TB, text string, n int) {
	t.Helper()
	lines, _, _ := parse(text)
	has := map[int]bool{}
	for _, l := range lines {
		has[*l.N] = true
	}
	for i := range n {
		if !has[i] {
			t.Errorf("line %d of %d is lost", i, n)
		}
	}
}
