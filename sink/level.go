// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/metrics"
)

const levels = level.Count

// levelIndex returns the index of the named level that l counts as: the next
// lower one, and trace for all below it.
func levelIndex(l nib.Level) int { return level.Row(int(l)) }

func levelAt(i int) nib.Level { return nib.Level(level.At(i)) }

// byLevel counts lines by level.
type byLevel [levels]atomic.Uint64

func (b *byLevel) metrics(l *metrics.Samples, name, help string) {
	for i := range b {
		l.Counter(name, help, float64(b[i].Load()), level.Label(i, nil)...)
	}
}
