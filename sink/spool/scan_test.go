// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"testing"

	"github.com/nib-log/nib"
)

// TestScannerFindsWhatIsBehindZeros has claims of any size that nothing was written to,
// each followed by a record.
func TestScannerFindsWhatIsBehindZeros(t *testing.T) {
	r := record(nib.LevelInfo, 1, 100)
	for _, claim := range []int{48, 56, 504, 512, 520, 1016, 1024, 1032, 4096, 20_000} {
		g := newSegment(make([]byte, minSegment), testID, nil)
		g.begin(start{first: 100})
		written, found := 0, 0
		for {
			_, _, ok := g.reserve(claim)
			at, seq, ok2 := g.reserve(recordSize(r, -1))
			if !ok || !ok2 {
				break
			}
			g.write(at, recordSize(r, -1), seq, r, -1)
			written++
		}
		sc := newScanner(g.b, testID, 100)
		for _, _, ok := sc.next(); ok; _, _, ok = sc.next() {
			found++
		}
		if found != written || written == 0 {
			t.Errorf("claims of %d bytes: found %d records of %d", claim, found, written)
		}
	}
}
