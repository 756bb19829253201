// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// TestCursorSlots reads the younger slot, and the older one if that is torn.
func TestCursorSlots(t *testing.T) {
	d := &dir{fs: vfs.OS(), path: t.TempDir(), spool: 5}
	name := filepath.Join(d.path, "c.cursor")
	for n := uint64(1); n < 6; n++ {
		c, _, _, err := openCursor(d, "c")
		must(t, err, c.put(position{5, 10 * n}), c.file.Close())
		whole, err := os.ReadFile(name)
		must(t, err)
		torn := bytes.Clone(whole)
		torn[int64(n%2)*slotGap+35]++
		for _, r := range []struct {
			b    []byte
			want uint64
		}{{torn, 10 * (n - 1)}, {whole, 10 * n}} {
			must(t, os.WriteFile(name, r.b, 0o600))
			c, seq, ok, err := openCursor(d, "c")
			must(t, err, c.file.Close())
			if ok != (r.want > 0) || ok && seq != r.want {
				t.Errorf("write %d: got position %d and %v, want %d", n, seq, ok, r.want)
			}
		}
	}
}

// TestSleeperIsWoken delivers lines one by one that nobody flushes.
func TestSleeperIsWoken(t *testing.T) {
	got := make(chan uint64, 1)
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (nib.Result, error, bool) {
		got <- batch[0].Seq
		return nib.Result{Accepted: 1}, nil, false
	})
	s := open(t, "", f, Config{SegmentSize: minSegment})
	for n := uint64(1); n <= 5; n++ {
		for !s.idle.Load() {
			awaitNext(s)
		}
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		if seq := <-got; seq != n {
			t.Errorf("got number %d, want %d", seq, n)
		}
	}
}

// TestScanRefusesNumbersOutOfRange finds copies of records where they do not belong.
func TestScanRefusesNumbersOutOfRange(t *testing.T) {
	g, offsets := filled(t, sample())
	end, _, _ := g.claimed()
	copy(g.b[end:], g.b[offsets[0]:offsets[1]])
	seqs, _ := scanAll(t, g.b, writtenTo(g, offsets))
	if len(seqs) != len(offsets) {
		t.Errorf("got the numbers %d, want %d of them", seqs, len(offsets))
	}
}
