// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
)

const levels = level.Count

// levelIndex is the named level that l counts as: the next lower one, and trace
// for all below.
func levelIndex(l nib.Level) int { return level.Row(int(l)) }

func levelAt(i int) nib.Level { return nib.Level(level.At(i)) }

// byLevel counts lines by level.
type byLevel [levels]atomic.Uint64

func (b *byLevel) total() (n uint64) {
	for i := range b {
		n += b[i].Load()
	}
	return n
}

func (b *byLevel) visit(visit Visit, name, help string) {
	for i := range b {
		visit(name, help, b[i].Load(), "level", levelAt(i).String())
	}
}
