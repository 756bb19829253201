// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"sync/atomic"

	"github.com/nib-log/nib"
)

// levels is the number of named levels, by which lines are counted.
const levels = 7

// levelIndex is the named level that l counts as: the next lower one, and trace
// for all below.
func levelIndex(l nib.Level) int {
	return int(min(max(l, nib.LevelTrace), nib.LevelFatal)-nib.LevelTrace) / 4
}

func levelAt(i int) nib.Level { return nib.LevelTrace + nib.Level(4*i) }

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
